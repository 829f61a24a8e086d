<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="ko">
<context>
    <name>About</name>
    <message>
        <source>About Jamak</source>
        <translation>Jamak 정보</translation>
    </message>
    <message>
        <source>Speech to text on your own machine. Nothing you open leaves it, unless you choose a server.

MIT licence. Built on Qt, PyTorch, FFmpeg, ONNX Runtime and the Whisper models.</source>
        <translation>내 컴퓨터에서 말을 글로 옮깁니다. 서버를 직접 고르지 않는 한 파일이 컴퓨터 밖으로 나가지 않습니다.

MIT 라이선스. Qt, PyTorch, FFmpeg, ONNX Runtime, Whisper 모델을 바탕으로 만들었습니다.</translation>
    </message>
</context>
<context>
    <name>Actions</name>
    <message>
        <source>&amp;Open…</source>
        <translation>열기(&amp;O)…</translation>
    </message>
    <message>
        <source>Open &amp;folder…</source>
        <translation>폴더 열기(&amp;F)…</translation>
    </message>
    <message>
        <source>&amp;Export…</source>
        <translation>내보내기(&amp;E)…</translation>
    </message>
    <message>
        <source>&amp;Copy transcript</source>
        <translation>전사문 복사(&amp;C)</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>끝내기(&amp;Q)</translation>
    </message>
    <message>
        <source>&amp;Record</source>
        <translation>녹음(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Pause recording</source>
        <translation>녹음 일시 정지(&amp;P)</translation>
    </message>
    <message>
        <source>Caption &amp;window</source>
        <translation>자막 창(&amp;W)</translation>
    </message>
    <message>
        <source>Caption &amp;settings…</source>
        <translation>자막 설정(&amp;S)…</translation>
    </message>
    <message>
        <source>&amp;Undo</source>
        <translation>실행 취소(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <translation>다시 실행(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Find in transcript…</source>
        <translation>이 글에서 찾기(&amp;F)…</translation>
    </message>
    <message>
        <source>Search &amp;all transcripts…</source>
        <translation>모든 글에서 검색(&amp;A)…</translation>
    </message>
    <message>
        <source>P&amp;lay or pause</source>
        <translation>재생 또는 일시정지(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Pause queue</source>
        <translation>대기열 멈추기(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Retry</source>
        <translation>다시 시도(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Cancel</source>
        <translation>취소(&amp;C)</translation>
    </message>
    <message>
        <source>Move &amp;up</source>
        <translation>위로(&amp;U)</translation>
    </message>
    <message>
        <source>Move &amp;down</source>
        <translation>아래로(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;Show in folder</source>
        <translation>폴더에서 보기(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Locate the file…</source>
        <translation>파일 위치 지정(&amp;L)…</translation>
    </message>
    <message>
        <source>Choose the audio &amp;track…</source>
        <translation>오디오 트랙 선택(&amp;T)…</translation>
    </message>
    <message>
        <source>Transcribe a&amp;gain with…</source>
        <translation>다른 모델로 다시 받아쓰기(&amp;G)…</translation>
    </message>
    <message>
        <source>Remo&amp;ve from the list</source>
        <translation>목록에서 제거(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Next recording</source>
        <translation>다음 녹음(&amp;N)</translation>
    </message>
    <message>
        <source>Pre&amp;vious recording</source>
        <translation>이전 녹음(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Larger text</source>
        <translation>글자 크게(&amp;L)</translation>
    </message>
    <message>
        <source>S&amp;maller text</source>
        <translation>글자 작게(&amp;M)</translation>
    </message>
    <message>
        <source>&amp;Normal text size</source>
        <translation>기본 글자 크기(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Models…</source>
        <translation>모델(&amp;M)…</translation>
    </message>
    <message>
        <source>&amp;Settings…</source>
        <translation>설정(&amp;S)…</translation>
    </message>
    <message>
        <source>&amp;Keyboard shortcuts</source>
        <translation>단축키(&amp;K)</translation>
    </message>
    <message>
        <source>&amp;Report a problem…</source>
        <translation>문제 알리기(&amp;R)…</translation>
    </message>
    <message>
        <source>Check for &amp;updates</source>
        <translation>새 버전 확인(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;About Jamak</source>
        <translation>Jamak 정보(&amp;A)</translation>
    </message>
</context>
<context>
    <name>CaptionPreview</name>
    <message>
        <source>Preview</source>
        <translation>미리보기</translation>
    </message>
    <message>
        <source>What was said stays where it is,</source>
        <translation>말한 글은 그 자리에 머무르고,</translation>
    </message>
    <message>
        <source>what may change is paler</source>
        <translation>바뀔 수 있는 글은 흐립니다</translation>
    </message>
</context>
<context>
    <name>CaptionSettingsDialog</name>
    <message>
        <source>Caption settings</source>
        <translation>자막 설정</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1%</translation>
    </message>
    <message>
        <source>&amp;Font</source>
        <translation>글꼴(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Size</source>
        <translation>크기(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Outline</source>
        <translation>테두리(&amp;O)</translation>
    </message>
    <message>
        <source>&amp;Lines</source>
        <translation>줄 수(&amp;L)</translation>
    </message>
    <message>
        <source>Op&amp;acity</source>
        <translation>불투명도(&amp;A)</translation>
    </message>
    <message>
        <source>Move the window by dragging it, and resize it by its edges. Esc closes it.</source>
        <translation>창은 끌어서 옮기고 가장자리를 끌어 크기를 바꿉니다. Esc로 닫습니다.</translation>
    </message>
    <message>
        <source>&amp;Restore defaults</source>
        <translation>기본값으로(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Bold</source>
        <translation>굵게(&amp;B)</translation>
    </message>
    <message>
        <source> pt</source>
        <translation> pt</translation>
    </message>
    <message>
        <source> px</source>
        <translation> px</translation>
    </message>
    <message>
        <source>&amp;Text colour</source>
        <translation>글자 색(&amp;T)</translation>
    </message>
    <message>
        <source>Outline &amp;colour</source>
        <translation>테두리 색(&amp;C)</translation>
    </message>
    <message>
        <source>Back&amp;ground</source>
        <translation>배경(&amp;G)</translation>
    </message>
    <message>
        <source>Fade out when nobody s&amp;peaks</source>
        <translation>말이 없으면 서서히 사라지기(&amp;P)</translation>
    </message>
    <message>
        <source>Let clicks t&amp;hrough to the window below (Ctrl+Shift+L closes it then)</source>
        <translation>클릭을 아래 창으로 보내기 (이때는 Ctrl+Shift+L로 닫습니다)(&amp;H)</translation>
    </message>
    <message>
        <source>Open with &amp;every recording</source>
        <translation>녹음할 때마다 열기(&amp;E)</translation>
    </message>
</context>
<context>
    <name>CaptionView</name>
    <message>
        <source>Live captions</source>
        <translation>실시간 자막</translation>
    </message>
</context>
<context>
    <name>CaptionWindow</name>
    <message>
        <source>Live captions</source>
        <translation>실시간 자막</translation>
    </message>
    <message>
        <source>Caption settings…</source>
        <translation>자막 설정…</translation>
    </message>
    <message>
        <source>Let clicks through</source>
        <translation>클릭 통과시키기</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>닫기</translation>
    </message>
    <message>
        <source>Close the captions (Esc)</source>
        <translation>자막 닫기 (Esc)</translation>
    </message>
    <message>
        <source>Jump to newest (End)</source>
        <translation>맨 끝으로 (End)</translation>
    </message>
</context>
<context>
    <name>Captions</name>
    <message>
        <source>Captions appear here while Jamak records.</source>
        <translation>Jamak이 녹음하는 동안 자막이 여기에 나타납니다.</translation>
    </message>
</context>
<context>
    <name>ChoiceBar</name>
    <message>
        <source>Model</source>
        <translation>모델</translation>
    </message>
    <message>
        <source>Language spoken</source>
        <translation>말하는 언어</translation>
    </message>
    <message>
        <source>Task</source>
        <translation>작업</translation>
    </message>
    <message>
        <source>Transcribe</source>
        <translation>받아쓰기</translation>
    </message>
    <message>
        <source>Translate to English</source>
        <translation>영어로 번역</translation>
    </message>
    <message>
        <source>Quality</source>
        <translation>품질</translation>
    </message>
    <message>
        <source>Fast</source>
        <translation>빠르게</translation>
    </message>
    <message>
        <source>Best</source>
        <translation>가장 정확하게</translation>
    </message>
    <message>
        <source>Weighs several texts against one another: fewer errors, more time</source>
        <translation>여러 문장을 견주어 고릅니다: 오류는 줄고 시간은 더 걸립니다</translation>
    </message>
    <message>
        <source>&amp;Model</source>
        <translation>모델(&amp;M)</translation>
    </message>
    <message>
        <source>Lan&amp;guage</source>
        <translation>언어(&amp;G)</translation>
    </message>
    <message>
        <source>Q&amp;uality</source>
        <translation>품질(&amp;U)</translation>
    </message>
    <message>
        <source>Tas&amp;k</source>
        <translation>작업(&amp;T)</translation>
    </message>
    <message>
        <source>More models…</source>
        <translation>다른 모델…</translation>
    </message>
    <message>
        <source>%1 (not downloaded)</source>
        <translation>%1 (내려받지 않음)</translation>
    </message>
</context>
<context>
    <name>CorrectText</name>
    <message>
        <source>correction</source>
        <translation>고침</translation>
    </message>
</context>
<context>
    <name>DropIn</name>
    <message>
        <source>Addresses of the network are not opened. Save the file first, then drop it here.</source>
        <translation>네트워크 주소는 열지 않습니다. 파일을 먼저 저장한 뒤 여기에 놓아 주세요.</translation>
    </message>
    <message numerus="yes">
        <source>%1 and %n more</source>
        <translation>
            <numerusform>%1 외 %n개</numerusform>
        </translation>
    </message>
    <message>
        <source>Left out, because they cannot be transcribed: %1.</source>
        <translation>받아쓸 수 없어 제외했습니다: %1.</translation>
    </message>
    <message>
        <source>“%1” is in the list already.</source>
        <translation>“%1” 파일은 이미 목록에 있습니다.</translation>
    </message>
    <message numerus="yes">
        <source>%n of these files are in the list already.</source>
        <translation>
            <numerusform>이 파일 가운데 %n개는 이미 목록에 있습니다.</numerusform>
        </translation>
    </message>
    <message>
        <source>Add again</source>
        <translation>다시 추가</translation>
    </message>
</context>
<context>
    <name>DropOverlay</name>
    <message>
        <source>Drop to transcribe</source>
        <translation>놓으면 받아쓰기를 시작합니다</translation>
    </message>
</context>
<context>
    <name>DropZone</name>
    <message>
        <source>Drop audio or video here</source>
        <translation>오디오나 동영상을 여기에 놓으세요</translation>
    </message>
    <message>
        <source>The words appear as they are recognised by %1, where the sound is sent.</source>
        <translation>알아듣는 대로 글이 나타납니다. 소리는 %1(으)로 보내 그곳에서 받아씁니다.</translation>
    </message>
    <message>
        <source>The words appear as they are recognised. Nothing leaves this computer.</source>
        <translation>알아듣는 대로 글이 나타납니다. 아무것도 이 컴퓨터 밖으로 나가지 않습니다.</translation>
    </message>
    <message>
        <source>Open files…</source>
        <translation>파일 열기…</translation>
    </message>
    <message>
        <source>Try the sample</source>
        <translation>예제 들어 보기</translation>
    </message>
</context>
<context>
    <name>EndNotice</name>
    <message>
        <source>Jamak has finished</source>
        <translation>Jamak 작업이 끝났습니다</translation>
    </message>
    <message numerus="yes">
        <source>%n recording(s) transcribed.</source>
        <translation>
            <numerusform>녹음 %n개를 받아썼습니다.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n could not be transcribed.</source>
        <translation>
            <numerusform>%n개는 받아쓰지 못했습니다.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>EngineBox</name>
    <message>
        <source>A server instead of this computer</source>
        <translation>이 컴퓨터 대신 서버 사용</translation>
    </message>
    <message>
        <source>Connec&amp;t</source>
        <translation>연결(&amp;T)</translation>
    </message>
    <message>
        <source>Ask the server for its models</source>
        <translation>서버에 모델 목록 요청</translation>
    </message>
    <message>
        <source>Add&amp;ress</source>
        <translation>주소(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Key</source>
        <translation>키(&amp;K)</translation>
    </message>
    <message>
        <source>Transcribe &amp;by</source>
        <translation>받아쓸 곳(&amp;B)</translation>
    </message>
    <message>
        <source>JAMAK_ENGINE_KEY is used</source>
        <translation>JAMAK_ENGINE_KEY를 사용합니다</translation>
    </message>
    <message>
        <source>Kept in the system&apos;s keyring; empty: as before</source>
        <translation>시스템 키링에 저장합니다. 비워 두면 전과 같습니다</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>이 컴퓨터</translation>
    </message>
    <message>
        <source>What you add or record is sent to %1 and transcribed there: the sound leaves this computer.</source>
        <translation>추가하거나 녹음하는 소리를 %1(으)로 보내 그곳에서 받아씁니다. 소리가 이 컴퓨터 밖으로 나갑니다.</translation>
    </message>
    <message>
        <source>The connection is not encrypted.</source>
        <translation>연결은 암호화되지 않습니다.</translation>
    </message>
    <message>
        <source>Connecting…</source>
        <translation>연결하는 중…</translation>
    </message>
    <message>
        <source>Connected. Models: %1</source>
        <translation>연결되었습니다. 모델: %1</translation>
    </message>
</context>
<context>
    <name>ExportDialog</name>
    <message>
        <source>Include the time of every &amp;word</source>
        <translation>단어마다 시간 넣기(&amp;W)</translation>
    </message>
    <message>
        <source>&amp;Show in folder</source>
        <translation>폴더에서 보기(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Export</source>
        <translation>내보내기(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;Copy as text</source>
        <translation>글로 복사(&amp;C)</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>내보내기</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>형식</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>폴더</translation>
    </message>
    <message>
        <source>File name</source>
        <translation>파일 이름</translation>
    </message>
    <message>
        <source>Include the time of every word</source>
        <translation>단어마다 시간 넣기</translation>
    </message>
    <message>
        <source>Copy as text</source>
        <translation>글로 복사</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <translation>폴더에서 보기</translation>
    </message>
    <message>
        <source>May hold {name}, {language}, {model} and {date}.</source>
        <translation>{name}, {language}, {model}, {date}을(를) 쓸 수 있습니다.</translation>
    </message>
    <message>
        <source>C&amp;hoose…</source>
        <translation>선택(&amp;H)…</translation>
    </message>
    <message>
        <source>Choose the folder</source>
        <translation>폴더 선택</translation>
    </message>
    <message>
        <source>Recordings:</source>
        <translation>녹음:</translation>
    </message>
    <message>
        <source>&amp;Format:</source>
        <translation>형식(&amp;F):</translation>
    </message>
    <message>
        <source>F&amp;older:</source>
        <translation>폴더(&amp;O):</translation>
    </message>
    <message>
        <source>File &amp;name:</source>
        <translation>파일 이름(&amp;N):</translation>
    </message>
    <message>
        <source>{names} and {count} more</source>
        <translation>{names} 외 {count}개</translation>
    </message>
    <message>
        <source>“{name}” is there already.</source>
        <translation>“{name}” 파일이 이미 있습니다.</translation>
    </message>
    <message>
        <source>{count} of the files are there already.</source>
        <translation>파일 {count}개가 이미 있습니다.</translation>
    </message>
    <message>
        <source>Overwriting cannot be undone.</source>
        <translation>덮어쓰면 되돌릴 수 없습니다.</translation>
    </message>
    <message>
        <source>&amp;Overwrite</source>
        <translation>덮어쓰기(&amp;O)</translation>
    </message>
    <message>
        <source>&amp;Keep both</source>
        <translation>둘 다 두기(&amp;K)</translation>
    </message>
    <message>
        <source>Saving…</source>
        <translation>저장하는 중…</translation>
    </message>
    <message>
        <source>“{name}” is saved.</source>
        <translation>“{name}” 파일을 저장했습니다.</translation>
    </message>
    <message>
        <source>{count} files are saved in “{folder}”.</source>
        <translation>“{folder}” 폴더에 파일 {count}개를 저장했습니다.</translation>
    </message>
    <message>
        <source>The text is copied.</source>
        <translation>글을 복사했습니다.</translation>
    </message>
    <message>
        <source>The folder could not be opened: {path}</source>
        <translation>폴더를 열 수 없습니다: {path}</translation>
    </message>
    <message>
        <source>Text (.txt)</source>
        <translation>텍스트 (.txt)</translation>
    </message>
    <message>
        <source>Subtitles: SubRip (.srt)</source>
        <translation>자막: SubRip (.srt)</translation>
    </message>
    <message>
        <source>Subtitles: WebVTT (.vtt)</source>
        <translation>자막: WebVTT (.vtt)</translation>
    </message>
    <message>
        <source>Everything, for programs: JSON (.json)</source>
        <translation>전체 정보(프로그램용): JSON (.json)</translation>
    </message>
    <message>
        <source>“{name}” may not be written there. Choose another folder.</source>
        <translation>“{name}” 파일을 그곳에 쓸 권한이 없습니다. 다른 폴더를 선택해 주세요.</translation>
    </message>
    <message>
        <source>“{name}” was not saved: the folder is not there. Choose another one.</source>
        <translation>폴더가 없어 “{name}” 파일을 저장하지 못했습니다. 다른 폴더를 선택해 주세요.</translation>
    </message>
    <message>
        <source>“{name}” was not saved: the disk is full.</source>
        <translation>디스크가 가득 차서 “{name}” 파일을 저장하지 못했습니다.</translation>
    </message>
    <message>
        <source>“{name}” could not be saved ({detail}). Choose another folder or name.</source>
        <translation>“{name}” 파일을 저장하지 못했습니다({detail}). 다른 폴더나 이름을 선택해 주세요.</translation>
    </message>
</context>
<context>
    <name>FirstRun</name>
    <message>
        <source>One download, then everything works without a network</source>
        <translation>한 번만 내려받으면 그다음부터는 네트워크 없이 쓸 수 있습니다</translation>
    </message>
    <message>
        <source>Download progress</source>
        <translation>내려받기 진행률</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>내려받기</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>취소</translation>
    </message>
    <message>
        <source>Other models…</source>
        <translation>다른 모델…</translation>
    </message>
    <message>
        <source>Use a folder…</source>
        <translation>폴더 사용…</translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) will start as soon as the model is here.</source>
        <translation>
            <numerusform>모델이 준비되는 대로 파일 %n개를 시작합니다.</numerusform>
        </translation>
    </message>
    <message>
        <source>Continue the download</source>
        <translation>이어서 내려받기</translation>
    </message>
    <message>
        <source>%1 – %2 to download, %3 free on this disk. %4</source>
        <translation>%1 – 내려받을 크기 %2, 디스크 여유 공간 %3. %4</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%2 중 %1</translation>
    </message>
    <message>
        <source>Connecting…</source>
        <translation>연결하는 중…</translation>
    </message>
</context>
<context>
    <name>HelpCommands</name>
    <message>
        <source>Report it…</source>
        <translation>알리기…</translation>
    </message>
    <message>
        <source>Something went wrong inside Jamak. What you were doing may not have been done.</source>
        <translation>Jamak 안에서 문제가 생겼습니다. 방금 하신 일이 처리되지 않았을 수 있습니다.</translation>
    </message>
    <message>
        <source>This is Jamak %1. It was built without an address to ask for newer versions: look where you got it from.</source>
        <translation>이 프로그램은 Jamak %1입니다. 새 버전을 물어볼 주소 없이 만들어졌으니, 받으신 곳에서 확인해 주세요.</translation>
    </message>
    <message>
        <source>Looking for a newer version…</source>
        <translation>새 버전을 확인하는 중…</translation>
    </message>
    <message>
        <source>Whether there is a newer version could not be found out: %1</source>
        <translation>새 버전이 있는지 확인하지 못했습니다: %1</translation>
    </message>
    <message>
        <source>Jamak %1 is the newest version.</source>
        <translation>Jamak %1은(는) 최신 버전입니다.</translation>
    </message>
    <message>
        <source>Jamak %1 is there; this is %2.</source>
        <translation>Jamak %1이(가) 나와 있습니다. 지금 버전은 %2입니다.</translation>
    </message>
    <message>
        <source>Show it</source>
        <translation>보기</translation>
    </message>
</context>
<context>
    <name>LanguageBox</name>
    <message>
        <source>Type to search</source>
        <translation>입력해서 검색</translation>
    </message>
    <message>
        <source>Detect language</source>
        <translation>언어 감지</translation>
    </message>
</context>
<context>
    <name>LevelMeter</name>
    <message>
        <source>Level</source>
        <translation>음량</translation>
    </message>
</context>
<context>
    <name>LibraryDelegate</name>
    <message>
        <source>Retry</source>
        <translation>다시 시도</translation>
    </message>
</context>
<context>
    <name>LibraryList</name>
    <message>
        <source>Recordings</source>
        <translation>녹음 목록</translation>
    </message>
</context>
<context>
    <name>LiveCommands</name>
    <message>
        <source>This desktop (Wayland) lets no window put itself above the others or remember its place. Choose “Always on top” in the caption window&apos;s own menu (Alt+Space), or start Jamak with QT_QPA_PLATFORM=xcb.</source>
        <translation>이 데스크톱(Wayland)에서는 창이 스스로 맨 위로 올라가거나 자리를 기억할 수 없습니다. 자막 창의 창 메뉴(Alt+Space)에서 “항상 위”를 고르거나 QT_QPA_PLATFORM=xcb로 Jamak을 시작해 주세요.</translation>
    </message>
    <message>
        <source>&amp;Go on recording</source>
        <translation>녹음 계속(&amp;G)</translation>
    </message>
    <message>
        <source>&amp;Pause recording</source>
        <translation>녹음 일시 정지(&amp;P)</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>계속</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>일시 정지</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>다시 시도</translation>
    </message>
</context>
<context>
    <name>LivePanel</name>
    <message>
        <source>Recording</source>
        <translation>녹음 중</translation>
    </message>
    <message>
        <source>Recorded time</source>
        <translation>녹음 시간</translation>
    </message>
    <message>
        <source>State of the captions</source>
        <translation>자막 상태</translation>
    </message>
    <message>
        <source>Device being recorded</source>
        <translation>녹음 중인 장치</translation>
    </message>
    <message>
        <source>%1 s of sound lost</source>
        <translation>소리 %1초를 잃음</translation>
    </message>
    <message>
        <source>%1 s behind</source>
        <translation>%1초 늦음</translation>
    </message>
    <message>
        <source>Opening the microphone…</source>
        <translation>마이크를 여는 중…</translation>
    </message>
    <message>
        <source>Writing down the last words…</source>
        <translation>마지막 말을 받아쓰는 중…</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>일시 정지됨</translation>
    </message>
    <message>
        <source>Recording; the captions follow as soon as the model is loaded</source>
        <translation>녹음 중입니다. 모델을 불러오면 자막이 나옵니다</translation>
    </message>
    <message>
        <source>Recording without captions</source>
        <translation>자막 없이 녹음 중</translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>A recording is running.</source>
        <translation>녹음이 진행 중입니다.</translation>
    </message>
    <message>
        <source>It is ended and kept. What is not written down yet will be when Jamak is started again.</source>
        <translation>녹음은 여기서 끝나고 저장됩니다. 아직 받아쓰지 못한 부분은 Jamak을 다시 시작하면 받아씁니다.</translation>
    </message>
    <message>
        <source>Files are still being transcribed.</source>
        <translation>아직 받아쓰는 중인 파일이 있습니다.</translation>
    </message>
    <message>
        <source>What is there is kept, and the rest goes on by itself when Jamak is started again.</source>
        <translation>지금까지의 글은 보관되며, 나머지는 Jamak을 다시 시작하면 저절로 이어집니다.</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>끝내기(&amp;Q)</translation>
    </message>
    <message>
        <source>&amp;Keep running</source>
        <translation>계속하기(&amp;K)</translation>
    </message>
    <message>
        <source>Device in use</source>
        <translation>사용 중인 장치</translation>
    </message>
    <message>
        <source>Where sound is sent to</source>
        <translation>소리를 보내는 곳</translation>
    </message>
    <message>
        <source>Sound is sent to %1</source>
        <translation>소리를 %1(으)로 보냅니다</translation>
    </message>
    <message>
        <source>Loading %1…</source>
        <translation>%1 불러오는 중…</translation>
    </message>
</context>
<context>
    <name>MarkLine</name>
    <message>
        <source>No sound came: %1</source>
        <translation>소리가 오지 않음: %1</translation>
    </message>
    <message>
        <source>Sound was lost: %1</source>
        <translation>소리를 잃음: %1</translation>
    </message>
    <message>
        <source>Paused: %1</source>
        <translation>일시 정지: %1</translation>
    </message>
</context>
<context>
    <name>Menus</name>
    <message>
        <source>&amp;File</source>
        <translation>파일(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Live</source>
        <translation>실시간(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>편집(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;Queue</source>
        <translation>대기열(&amp;Q)</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>보기(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>도움말(&amp;H)</translation>
    </message>
    <message>
        <source>Tools</source>
        <translation>도구</translation>
    </message>
    <message>
        <source>Retry with another model</source>
        <translation>다른 모델로 다시 시도</translation>
    </message>
</context>
<context>
    <name>ModelsDialog</name>
    <message>
        <source>Models</source>
        <translation>모델</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>모델</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>크기</translation>
    </message>
    <message>
        <source>State</source>
        <translation>상태</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>진행률</translation>
    </message>
    <message>
        <source>&amp;Use this model</source>
        <translation>이 모델 사용(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;Download</source>
        <translation>내려받기(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;Cancel</source>
        <translation>취소(&amp;C)</translation>
    </message>
    <message>
        <source>&amp;Verify</source>
        <translation>검사(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Remove</source>
        <translation>삭제(&amp;R)</translation>
    </message>
    <message>
        <source>Use a &amp;folder…</source>
        <translation>폴더 사용(&amp;F)…</translation>
    </message>
    <message>
        <source>Downloads are kept in %1; %2 free.</source>
        <translation>내려받은 모델은 %1에 있습니다. 여유 공간 %2.</translation>
    </message>
    <message>
        <source>cannot be run yet</source>
        <translation>아직 실행할 수 없음</translation>
    </message>
    <message>
        <source>on this computer</source>
        <translation>설치됨</translation>
    </message>
    <message>
        <source>partly downloaded</source>
        <translation>일부 내려받음</translation>
    </message>
    <message>
        <source>not downloaded</source>
        <translation>내려받지 않음</translation>
    </message>
    <message>
        <source>downloading</source>
        <translation>내려받는 중</translation>
    </message>
    <message>
        <source>being checked</source>
        <translation>검사하는 중</translation>
    </message>
    <message>
        <source>being removed</source>
        <translation>삭제하는 중</translation>
    </message>
    <message>
        <source>&amp;Continue</source>
        <translation>이어받기(&amp;C)</translation>
    </message>
    <message>
        <source>Optional: with it, Qwen3-ASR measures when each word was said.</source>
        <translation>선택 사항입니다. 함께 있으면 Qwen3-ASR이 단어마다 말한 시각을 측정합니다.</translation>
    </message>
    <message>
        <source>Understands English only.</source>
        <translation>영어만 알아듣습니다.</translation>
    </message>
    <message numerus="yes">
        <source>Understands %n language(s).</source>
        <translation>
            <numerusform>%n개 언어를 알아듣습니다.</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 would add measured times of words.</source>
        <translation>%1을(를) 함께 받으면 단어 시각을 측정해 줍니다.</translation>
    </message>
    <message>
        <source>A folder of yours: %1</source>
        <translation>직접 지정한 폴더: %1</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%2 중 %1</translation>
    </message>
    <message>
        <source>Every file is as it should be.</source>
        <translation>모든 파일이 올바릅니다.</translation>
    </message>
    <message>
        <source>Needs %1 of memory more.</source>
        <translation>메모리가 %1 더 필요합니다.</translation>
    </message>
    <message>
        <source>Needs up to %1 of memory, which is too much for this computer (%2).</source>
        <translation>메모리가 최대 %1 필요해서 이 컴퓨터(%2)에는 벅찹니다.</translation>
    </message>
    <message>
        <source>Needs up to %1 of memory; this computer has %2.</source>
        <translation>메모리가 최대 %1 필요합니다. 이 컴퓨터의 메모리는 %2입니다.</translation>
    </message>
    <message>
        <source>Choose a folder that holds a model</source>
        <translation>모델이 든 폴더를 선택하세요</translation>
    </message>
</context>
<context>
    <name>Notice</name>
    <message>
        <source>Dismiss</source>
        <translation>닫기</translation>
    </message>
</context>
<context>
    <name>Player</name>
    <message>
        <source>“{name}” is not there any more, so it cannot be played.</source>
        <translation>“{name}” 파일이 더 이상 그 자리에 없어 재생할 수 없습니다.</translation>
    </message>
    <message>
        <source>“{name}” cannot be played here. Its text can still be read and corrected.</source>
        <translation>“{name}” 파일은 여기서 재생할 수 없습니다. 글은 그대로 읽고 고칠 수 있습니다.</translation>
    </message>
</context>
<context>
    <name>PlayerBar</name>
    <message>
        <source>Player</source>
        <translation>재생기</translation>
    </message>
    <message>
        <source>Place in the recording</source>
        <translation>재생 위치</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>속도</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>일시정지</translation>
    </message>
    <message>
        <source>Play</source>
        <translation>재생</translation>
    </message>
    <message>
        <source>{name} (Space)</source>
        <translation>{name} (스페이스)</translation>
    </message>
</context>
<context>
    <name>RecentMenu</name>
    <message>
        <source>Open &amp;recent</source>
        <translation>최근 파일 열기(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Clear the list</source>
        <translation>목록 지우기(&amp;C)</translation>
    </message>
</context>
<context>
    <name>RecordButton</name>
    <message>
        <source>&amp;Stop recording</source>
        <translation>녹음 끝내기(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Record</source>
        <translation>녹음(&amp;R)</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>끝내기</translation>
    </message>
    <message>
        <source>Record</source>
        <translation>녹음</translation>
    </message>
</context>
<context>
    <name>ReportDialog</name>
    <message>
        <source>Show in &amp;folder</source>
        <translation>폴더에서 보기(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Save the report…</source>
        <translation>보고서 저장(&amp;S)…</translation>
    </message>
    <message>
        <source>“{name}” could not be saved: {reason}</source>
        <translation>“{name}”을(를) 저장하지 못했습니다: {reason}</translation>
    </message>
    <message>
        <source>“{name}” is saved. Attach it to your message.</source>
        <translation>“{name}”을(를) 저장했습니다. 메시지에 첨부해 주세요.</translation>
    </message>
    <message>
        <source>Report a problem</source>
        <translation>문제 알리기</translation>
    </message>
    <message>
        <source>This is everything the report holds: no sound, no words, no names of recordings. Read it, save it, and send it where you ask for help. Jamak itself sends nothing.</source>
        <translation>보고서에 들어가는 내용은 이것이 전부이며, 소리도 글도 녹음 이름도 들어 있지 않습니다. 읽어 보고 저장한 다음 도움을 구하는 곳에 보내세요. Jamak은 아무것도 보내지 않습니다.</translation>
    </message>
    <message>
        <source>Files of the report</source>
        <translation>보고서의 파일</translation>
    </message>
    <message>
        <source>Content</source>
        <translation>내용</translation>
    </message>
    <message>
        <source>Save the report</source>
        <translation>보고서 저장</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <translation>폴더에서 보기</translation>
    </message>
    <message>
        <source>Collecting…</source>
        <translation>모으는 중…</translation>
    </message>
    <message>
        <source>ZIP (*.zip)</source>
        <translation>ZIP (*.zip)</translation>
    </message>
    <message>
        <source>The folder could not be opened: {path}</source>
        <translation>폴더를 열 수 없습니다: {path}</translation>
    </message>
</context>
<context>
    <name>RowCommands</name>
    <message>
        <source>“%1” was removed from the list. The file itself stays.</source>
        <translation>“%1” 항목을 목록에서 제거했습니다. 파일은 그대로 있습니다.</translation>
    </message>
    <message numerus="yes">
        <source>%n recordings were removed from the list. The files themselves stay.</source>
        <translation>
            <numerusform>녹음 %n개를 목록에서 제거했습니다. 파일은 그대로 있습니다.</numerusform>
        </translation>
    </message>
    <message>
        <source>“%1” is transcribed again. The transcript there is stays.</source>
        <translation>“%1”을(를) 다시 받아씁니다. 지금 있는 글도 그대로 남습니다.</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>되돌리기</translation>
    </message>
    <message>
        <source>The folder “%1” cannot be shown.</source>
        <translation>“%1” 폴더를 표시할 수 없습니다.</translation>
    </message>
    <message>
        <source>Where is “%1” now?</source>
        <translation>“%1” 파일이 지금 어디에 있나요?</translation>
    </message>
</context>
<context>
    <name>SearchBar</name>
    <message>
        <source>Find in this transcript</source>
        <translation>이 글에서 찾기</translation>
    </message>
    <message>
        <source>Previous match (Shift+F3)</source>
        <translation>이전 결과 (Shift+F3)</translation>
    </message>
    <message>
        <source>Next match (F3)</source>
        <translation>다음 결과 (F3)</translation>
    </message>
    <message>
        <source>Close (Esc)</source>
        <translation>닫기 (Esc)</translation>
    </message>
    <message>
        <source>No matches</source>
        <translation>결과 없음</translation>
    </message>
    <message>
        <source>Match {position} of {count}</source>
        <translation>{count}개 중 {position}번째</translation>
    </message>
</context>
<context>
    <name>SearchField</name>
    <message>
        <source>Search all transcripts</source>
        <translation>모든 글에서 검색</translation>
    </message>
</context>
<context>
    <name>SearchResults</name>
    <message>
        <source>Search results</source>
        <translation>검색 결과</translation>
    </message>
    <message>
        <source>Nothing found</source>
        <translation>찾은 것이 없습니다</translation>
    </message>
</context>
<context>
    <name>SegmentEditor</name>
    <message>
        <source>Text of the segment</source>
        <translation>구간의 글</translation>
    </message>
</context>
<context>
    <name>ServerBox</name>
    <message>
        <source>For other programs</source>
        <translation>다른 프로그램에서 쓰기</translation>
    </message>
    <message>
        <source>Let pro&amp;grams on this computer transcribe with Jamak (OpenAI&apos;s API)</source>
        <translation>이 컴퓨터의 프로그램이 Jamak으로 받아쓰게 하기(OpenAI API)(&amp;G)</translation>
    </message>
    <message>
        <source>&amp;Port</source>
        <translation>포트(&amp;P)</translation>
    </message>
    <message>
        <source>Base address</source>
        <translation>기본 주소</translation>
    </message>
    <message>
        <source>Copy the address</source>
        <translation>주소 복사</translation>
    </message>
    <message>
        <source>API key</source>
        <translation>API 키</translation>
    </message>
    <message>
        <source>Copy the key</source>
        <translation>키 복사</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>복사</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>시작하는 중…</translation>
    </message>
    <message>
        <source>The server has ended.</source>
        <translation>서버가 끝났습니다.</translation>
    </message>
</context>
<context>
    <name>Session</name>
    <message>
        <source>Recording</source>
        <translation>녹음 중</translation>
    </message>
    <message>
        <source>Transcribing</source>
        <translation>받아쓰는 중</translation>
    </message>
    <message>
        <source>Use my settings again</source>
        <translation>내 설정 다시 사용</translation>
    </message>
</context>
<context>
    <name>SettingsDialog</name>
    <message>
        <source>Settings</source>
        <translation>설정</translation>
    </message>
    <message>
        <source>New files</source>
        <translation>새 파일</translation>
    </message>
    <message>
        <source>Transcribe</source>
        <translation>받아쓰기</translation>
    </message>
    <message>
        <source>Translate to English</source>
        <translation>영어로 번역</translation>
    </message>
    <message>
        <source>Fast</source>
        <translation>빠르게</translation>
    </message>
    <message>
        <source>Best, takes longer</source>
        <translation>가장 정확하게 (더 오래 걸림)</translation>
    </message>
    <message>
        <source>Text that shows style and spelling</source>
        <translation>문체와 표기를 보여 주는 글</translation>
    </message>
    <message>
        <source>Names and words that will come up, with spaces between</source>
        <translation>나올 이름과 단어를 띄어쓰기로 구분해 적어 주세요</translation>
    </message>
    <message>
        <source>&amp;Model</source>
        <translation>모델(&amp;M)</translation>
    </message>
    <message>
        <source>&amp;Language</source>
        <translation>언어(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Quality</source>
        <translation>품질(&amp;Q)</translation>
    </message>
    <message>
        <source>Ta&amp;sk</source>
        <translation>작업(&amp;S)</translation>
    </message>
    <message>
        <source>Wor&amp;ds to expect</source>
        <translation>나올 단어(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;Initial prompt</source>
        <translation>초기 프롬프트(&amp;I)</translation>
    </message>
    <message>
        <source>&amp;Word-level timings</source>
        <translation>단어별 시간(&amp;W)</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>모양</translation>
    </message>
    <message>
        <source>As the system</source>
        <translation>시스템 설정 따름</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>밝게</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>어둡게</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1%</translation>
    </message>
    <message>
        <source>T&amp;heme</source>
        <translation>테마(&amp;H)</translation>
    </message>
    <message>
        <source>Language of the wi&amp;ndow</source>
        <translation>화면 언어(&amp;N)</translation>
    </message>
    <message>
        <source>Te&amp;xt size of transcripts</source>
        <translation>글자 크기(&amp;X)</translation>
    </message>
    <message>
        <source>C&amp;ustomise…</source>
        <translation>꾸미기(&amp;U)…</translation>
    </message>
    <message>
        <source>Caption wind&amp;ow</source>
        <translation>자막 창(&amp;O)</translation>
    </message>
    <message>
        <source>Behaviour</source>
        <translation>동작</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>선택…</translation>
    </message>
    <message>
        <source>Choose the folder for recordings</source>
        <translation>녹음 폴더 선택</translation>
    </message>
    <message>
        <source>New recordings are kept here. Earlier ones stay where they are.</source>
        <translation>새 녹음을 여기에 저장합니다. 이전 녹음은 있던 곳에 그대로 둡니다.</translation>
    </message>
    <message>
        <source>Beside the recording</source>
        <translation>녹음 파일 옆</translation>
    </message>
    <message>
        <source>&amp;Choose…</source>
        <translation>선택(&amp;C)…</translation>
    </message>
    <message>
        <source>Choose the folder for exports</source>
        <translation>내보낼 폴더 선택</translation>
    </message>
    <message>
        <source>&amp;Folder for recordings</source>
        <translation>녹음 폴더(&amp;F)</translation>
    </message>
    <message>
        <source>Folder for &amp;exports</source>
        <translation>내보낼 폴더(&amp;E)</translation>
    </message>
    <message>
        <source>Keep the computer aw&amp;ake while files are transcribed</source>
        <translation>받아쓰는 동안 컴퓨터를 깨워 두기(&amp;A)</translation>
    </message>
    <message>
        <source>Notif&amp;y me when long work has ended</source>
        <translation>오래 걸린 작업이 끝나면 알리기(&amp;Y)</translation>
    </message>
</context>
<context>
    <name>ShortcutsDialog</name>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>단축키</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>명령</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>키</translation>
    </message>
    <message>
        <source>Play or pause (while not typing)</source>
        <translation>재생 또는 일시정지(입력 중이 아닐 때)</translation>
    </message>
    <message>
        <source>Back or forward one second</source>
        <translation>1초 뒤로 또는 앞으로</translation>
    </message>
    <message>
        <source>Correct the text of a segment</source>
        <translation>구간의 글 고치기</translation>
    </message>
    <message>
        <source>Play from a segment</source>
        <translation>구간부터 재생</translation>
    </message>
    <message>
        <source>Next or previous match</source>
        <translation>다음 또는 이전 결과</translation>
    </message>
    <message>
        <source>Close the search</source>
        <translation>찾기 닫기</translation>
    </message>
    <message>
        <source>Caption window: read back</source>
        <translation>자막 창: 되돌아 읽기</translation>
    </message>
    <message>
        <source>Caption window: jump to newest</source>
        <translation>자막 창: 맨 끝으로</translation>
    </message>
    <message>
        <source>Caption window: move, resize</source>
        <translation>자막 창: 옮기기, 크기 바꾸기</translation>
    </message>
    <message>
        <source>Caption window: close</source>
        <translation>자막 창: 닫기</translation>
    </message>
</context>
<context>
    <name>SidePanel</name>
    <message numerus="yes">
        <source>%n running</source>
        <translation>
            <numerusform>진행 중 %n</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n waiting</source>
        <translation>
            <numerusform>대기 중 %n</numerusform>
        </translation>
    </message>
    <message>
        <source>paused</source>
        <translation>멈춤</translation>
    </message>
    <message numerus="yes">
        <source>%n recording(s)</source>
        <translation>
            <numerusform>녹음 %n개</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SourceMenu</name>
    <message>
        <source>Record &amp;from</source>
        <translation>녹음할 소리(&amp;F)</translation>
    </message>
    <message>
        <source>Microphone</source>
        <translation>마이크</translation>
    </message>
    <message>
        <source>Computer sound</source>
        <translation>컴퓨터 소리</translation>
    </message>
    <message>
        <source>Microphone and computer sound</source>
        <translation>마이크와 컴퓨터 소리</translation>
    </message>
    <message>
        <source>System default</source>
        <translation>시스템 기본값</translation>
    </message>
    <message>
        <source>What is being played</source>
        <translation>재생 중인 소리</translation>
    </message>
    <message>
        <source>%1 (not connected)</source>
        <translation>%1 (연결되지 않음)</translation>
    </message>
</context>
<context>
    <name>TrackChoice</name>
    <message>
        <source>“%1” has only one audio track.</source>
        <translation>“%1” 파일에는 오디오 트랙이 하나뿐입니다.</translation>
    </message>
    <message>
        <source>Which audio track of “%1” is to be transcribed?</source>
        <translation>“%1” 파일의 어느 오디오 트랙을 받아쓸까요?</translation>
    </message>
    <message>
        <source>Track %1</source>
        <translation>트랙 %1</translation>
    </message>
</context>
<context>
    <name>TranscriptList</name>
    <message>
        <source>Transcript</source>
        <translation>전사문</translation>
    </message>
    <message>
        <source>The recogniser was not sure of this. Listen to it.</source>
        <translation>인식이 확실하지 않은 부분입니다. 직접 들어 보세요.</translation>
    </message>
</context>
<context>
    <name>TranscriptModel</name>
    <message>
        <source>Being recognised: {text}</source>
        <translation>인식하는 중: {text}</translation>
    </message>
    <message>
        <source>about {time}</source>
        <translation>약 {time}</translation>
    </message>
    <message>
        <source>{time}, uncertain: {text}</source>
        <translation>{time}, 불확실: {text}</translation>
    </message>
</context>
<context>
    <name>TranscriptPage</name>
    <message>
        <source>translated to English</source>
        <translation>영어로 번역</translation>
    </message>
    <message>
        <source>detected</source>
        <translation>감지됨</translation>
    </message>
    <message>
        <source>detected, %1 % sure</source>
        <translation>감지됨, 확신도 %1%</translation>
    </message>
    <message>
        <source>Waiting for its turn</source>
        <translation>차례를 기다리는 중</translation>
    </message>
    <message>
        <source>Listening…</source>
        <translation>듣고 있습니다…</translation>
    </message>
    <message>
        <source>No speech was heard in this recording.</source>
        <translation>이 녹음에서는 말소리가 들리지 않았습니다.</translation>
    </message>
    <message>
        <source>Retry</source>
        <translation>다시 시도</translation>
    </message>
    <message>
        <source>Retry with another model…</source>
        <translation>다른 모델로 다시 시도…</translation>
    </message>
    <message>
        <source>Locate the file…</source>
        <translation>파일 위치 지정…</translation>
    </message>
</context>
<context>
    <name>TranscriptView</name>
    <message>
        <source>No text yet</source>
        <translation>아직 글이 없습니다</translation>
    </message>
    <message>
        <source>Play from here</source>
        <translation>여기부터 재생</translation>
    </message>
    <message>
        <source>Correct the text</source>
        <translation>글 고치기</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>복사</translation>
    </message>
    <message>
        <source>Copy with times</source>
        <translation>시간과 함께 복사</translation>
    </message>
    <message>
        <source>Select all</source>
        <translation>모두 선택</translation>
    </message>
    <message>
        <source>Jump to playing</source>
        <translation>재생 위치로</translation>
    </message>
    <message>
        <source>Jump to newest</source>
        <translation>맨 끝으로</translation>
    </message>
</context>
<context>
    <name>VersionBar</name>
    <message>
        <source>Version of the transcript</source>
        <translation>받아쓴 글의 버전</translation>
    </message>
    <message>
        <source>Transcribe again…</source>
        <translation>다시 받아쓰기…</translation>
    </message>
    <message>
        <source>Transcribe again with another model</source>
        <translation>다른 모델로 다시 받아쓰기</translation>
    </message>
    <message>
        <source>Transcribe again with another model; this transcript stays</source>
        <translation>다른 모델로 다시 받아쓰기(이 글은 그대로 남습니다)</translation>
    </message>
    <message>
        <source>Version %1 · %2</source>
        <translation>버전 %1 · %2</translation>
    </message>
</context>
<context>
    <name>WindowCommands</name>
    <message>
        <source>&amp;Resume queue</source>
        <translation>대기열 계속하기(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Pause queue</source>
        <translation>대기열 멈추기(&amp;P)</translation>
    </message>
    <message>
        <source>Open audio or video</source>
        <translation>오디오나 동영상 열기</translation>
    </message>
    <message>
        <source>Open a folder of recordings</source>
        <translation>녹음 폴더 열기</translation>
    </message>
    <message>
        <source>The transcript was copied.</source>
        <translation>전사문을 복사했습니다.</translation>
    </message>
    <message>
        <source>More models…</source>
        <translation>다른 모델…</translation>
    </message>
    <message>
        <source>Choose a folder that holds a model</source>
        <translation>모델이 든 폴더를 선택하세요</translation>
    </message>
</context>
<context>
    <name>Wording</name>
    <message>
        <source>Recording</source>
        <translation>녹음 중</translation>
    </message>
    <message>
        <source>%1 left</source>
        <translation>%1 남음</translation>
    </message>
    <message>
        <source>Time measured word by word</source>
        <translation>단어마다 측정한 시각</translation>
    </message>
    <message>
        <source>Time given by the recogniser</source>
        <translation>인식 모델이 알려 준 시각</translation>
    </message>
    <message>
        <source>Time of the speech that this text was found in</source>
        <translation>이 글이 들린 말소리 구간의 시각</translation>
    </message>
    <message>
        <source>Estimated time</source>
        <translation>추정한 시각</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>대기 중</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>실패</translation>
    </message>
    <message>
        <source>Stopped at %1</source>
        <translation>%1에서 멈춤</translation>
    </message>
    <message>
        <source>Cancelled</source>
        <translation>취소됨</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>시작하는 중…</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1%</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>완료</translation>
    </message>
</context>
</TS>
