"""A loop for models on servers elsewhere: takes the chunks a scheduler takes, gives the text it gives."""
