; The installer for Windows (Inno Setup 6); called by build.ps1. NOT TRIED YET.
; Installs for the user alone, without an administrator. Recordings, transcripts and settings are never touched:
; they are in %LOCALAPPDATA%\jamak and in the folder of documents.
#ifndef Version
  #define Version "0.0.0"
#endif
#ifndef Kind
  #define Kind "full"
#endif

[Setup]
AppId={{6B0B0E0A-3F0E-4E0B-9A56-6A616D616B00}
AppName=Jamak
AppVersion={#Version}
AppPublisher=The Jamak authors
DefaultDirName={autopf}\Jamak
DefaultGroupName=Jamak
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
MinVersion=10.0
LicenseFile=..\..\LICENSE
SetupIconFile=..\..\build\icons\jamak.ico
UninstallDisplayIcon={app}\jamak.exe
OutputDir=..\..\dist
OutputBaseFilename=jamak-{#Kind}-{#Version}-windows-x64
Compression=lzma2/normal
SolidCompression=yes
ChangesAssociations=yes
CloseApplications=yes

[Languages]
Name: "english"; MessagesFile: "compiler:Default.isl"
Name: "korean"; MessagesFile: "compiler:Languages\Korean.isl"

[InstallDelete]
; Libraries of an older version would be found before the new ones.
Type: filesandordirs; Name: "{app}\_internal"

[Files]
Source: "..\..\build\dist\jamak\*"; DestDir: "{app}"; Flags: ignoreversion recursesubdirs createallsubdirs

[Icons]
Name: "{autoprograms}\Jamak"; Filename: "{app}\jamak.exe"

[Registry]
; "Open with": named as one of the programs that can, never as the one that does.
Root: HKA; Subkey: "Software\Classes\Applications\jamak.exe"; ValueType: string; ValueName: "FriendlyAppName"; ValueData: "Jamak"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\Applications\jamak.exe\shell\open\command"; ValueType: string; ValueData: """{app}\jamak.exe"" ""%1"""
Root: HKA; Subkey: "Software\Classes\SystemFileAssociations\audio\OpenWithList\jamak.exe"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\SystemFileAssociations\video\OpenWithList\jamak.exe"; Flags: uninsdeletekey

[Run]
Filename: "{app}\jamak.exe"; Description: "{cm:LaunchProgram,Jamak}"; Flags: nowait postinstall skipifsilent

[CustomMessages]
english.KeptData=Recordings, transcripts and settings stay in %1.
korean.KeptData=녹음, 받아쓴 글, 설정은 %1에 그대로 남아 있습니다.

[Code]
procedure CurUninstallStepChanged(Step: TUninstallStep);
begin
  if (Step = usPostUninstall) and not UninstallSilent then
    MsgBox(FmtMessage(CustomMessage('KeptData'), [ExpandConstant('{localappdata}\jamak')]), mbInformation, MB_OK);
end;
