"""From microphones and computer sound to a file that is always whole, and from that file to the engine.

Device → callback → ring → writer thread → file → feeder → engine. Nothing sees a sample before the
file has it. No Qt here.
"""
