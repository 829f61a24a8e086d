<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en_GB">
<context>
    <name>DropIn</name>
    <message numerus="yes">
        <source>%1 and %n more</source>
        <translation>
            <numerusform>%1 and %n more</numerusform>
            <numerusform>%1 and %n more</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n of these files are in the list already.</source>
        <translation>
            <numerusform>%n of these files is in the list already.</numerusform>
            <numerusform>%n of these files are in the list already.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>EndNotice</name>
    <message numerus="yes">
        <source>%n recording(s) transcribed.</source>
        <translation>
            <numerusform>%n recording transcribed.</numerusform>
            <numerusform>%n recordings transcribed.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n could not be transcribed.</source>
        <translation>
            <numerusform>%n could not be transcribed.</numerusform>
            <numerusform>%n could not be transcribed.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>FirstRun</name>
    <message numerus="yes">
        <source>%n file(s) will start as soon as the model is here.</source>
        <translation>
            <numerusform>%n file will start as soon as the model is here.</numerusform>
            <numerusform>%n files will start as soon as the model is here.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ModelsDialog</name>
    <message numerus="yes">
        <source>Understands %n language(s).</source>
        <translation>
            <numerusform>Understands %n language.</numerusform>
            <numerusform>Understands %n languages.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RowCommands</name>
    <message numerus="yes">
        <source>%n recordings were removed from the list. The files themselves stay.</source>
        <translation>
            <numerusform>%n recording was removed from the list. The file itself stays.</numerusform>
            <numerusform>%n recordings were removed from the list. The files themselves stay.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SidePanel</name>
    <message numerus="yes">
        <source>%n running</source>
        <translation>
            <numerusform>%n running</numerusform>
            <numerusform>%n running</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n waiting</source>
        <translation>
            <numerusform>%n waiting</numerusform>
            <numerusform>%n waiting</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n recording(s)</source>
        <translation>
            <numerusform>%n recording</numerusform>
            <numerusform>%n recordings</numerusform>
        </translation>
    </message>
</context>
</TS>
