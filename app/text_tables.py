"""The texts themselves: data. English failures live with their kinds in `engine.protocol.failures`."""

from __future__ import annotations

from typing import Final

from engine.protocol.failures import FailureKind

_K = FailureKind

KOREAN_FAILURES: Final[dict[FailureKind, tuple[str, str]]] = {
    _K.NOT_FOUND: (
        "“{subject}” 파일이 더 이상 그 자리에 없습니다.",
        "옮겼거나 이름을 바꿨다면 다시 선택해 주세요.",
    ),
    _K.NOT_READABLE: (
        "“{subject}” 파일을 읽을 권한이 없습니다.",
        "파일의 권한을 확인하거나 내 폴더로 복사해 주세요.",
    ),
    _K.BAD_MEDIA: (
        "“{subject}” 파일은 읽을 수 있는 오디오나 동영상이 아니거나 손상되었습니다.",
        "다른 프로그램에서 재생해 보고, 재생되지 않으면 파일을 다시 받아 주세요.",
    ),
    _K.NO_AUDIO: (
        "“{subject}” 파일에 소리가 없습니다.",
        "오디오 트랙이 있는 파일을 선택해 주세요.",
    ),
    _K.EMPTY_AUDIO: (
        "“{subject}” 파일이 비어 있어 들을 소리가 없습니다.",
        "녹음이 끝까지 저장되었는지 확인해 주세요.",
    ),
    _K.REFUSED_MEDIA: (
        "“{subject}” 파일은 다른 파일이나 네트워크를 가리키기만 하므로 열지 않습니다.",
        "녹음 파일 자체를 열어 주세요.",
    ),
    _K.DAMAGED_MEDIA: (
        "“{subject}” 파일의 일부가 손상되어 건너뛰었습니다.",
        "손상된 부분을 빼고는 글이 모두 들어 있습니다.",
    ),
    _K.UNFINISHED_MEDIA: (
        "“{subject}” 파일은 녹화나 녹음이 끝나지 않았습니다. 끝에 있어야 할 색인(moov)이 없습니다.",
        "녹음한 프로그램에서 한 번 열어 복구하거나 온전한 파일을 다시 받아 주세요.",
    ),
    _K.MODEL_MISSING: (
        "“{subject}” 모델이 이 컴퓨터에 없습니다.",
        "모델 창에서 내려받거나 다른 모델을 선택해 주세요.",
    ),
    _K.MODEL_UNKNOWN: (
        "“{subject}”은(는) Jamak이 아는 모델이 아닙니다.",
        "목록에서 고르거나 Whisper 또는 Qwen3-ASR 모델이 든 폴더를 선택해 주세요.",
    ),
    _K.MODEL_BROKEN: (
        "“{subject}” 모델을 불러올 수 없습니다.",
        "모델 창에서 검사하고, 손상되었으면 다시 내려받아 주세요.",
    ),
    _K.MODEL_SHIPPED: (
        "“{subject}” 모델은 프로그램에 들어 있습니다.",
        "Jamak을 제거하면 함께 지워집니다.",
    ),
    _K.MODEL_INCOMPLETE: (
        "“{subject}” 모델의 일부가 없습니다.",
        "다시 내려받아 주세요. 폴더를 복사했다면 안에 든 파일을 모두 복사해 주세요.",
    ),
    _K.MODEL_UNSUPPORTED: (
        "“{subject}”은(는) Jamak이 돌릴 수 없는 종류의 모델입니다.",
        "다른 모델을 선택해 주세요. 무엇이 다른지는 자세한 내용에 있습니다.",
    ),
    _K.MODEL_VOCABULARY: (
        "“{subject}” 모델과 어휘 파일이 서로 맞지 않습니다.",
        "모델에 딸린 토크나이저 파일까지 함께 다시 내려받아 주세요.",
    ),
    _K.MODEL_IS_ALIGNER: (
        "“{subject}”은(는) 이미 아는 단어의 시각을 찾는 모델이라 말을 받아쓰지 못합니다.",
        "Qwen3-ASR 같은 받아쓰기 모델을 선택해 주세요. 단어 시각은 정렬기가 알아서 찾습니다.",
    ),
    _K.MODEL_NO_ALIGNER: (
        "“{subject}”은(는) 말을 받아쓰는 모델이라 주어진 단어의 시각을 찾지 못합니다.",
        "Qwen3-ForcedAligner 폴더를 선택해 주세요.",
    ),
    _K.LANGUAGE_UNKNOWN: (
        "“{subject}” 모델은 선택한 언어를 모릅니다.",
        "다른 언어나 다국어 모델을 선택해 주세요.",
    ),
    _K.TASK_UNSUPPORTED: (
        "“{subject}” 모델은 번역을 할 수 없습니다.",
        "받아쓰기를 선택하거나 다국어 모델을 사용해 주세요.",
    ),
    _K.DOWNLOAD_FAILED: (
        "“{subject}”을(를) 내려받지 못했습니다.",
        "연결을 확인하고 다시 시도해 주세요. 받은 부분은 남아 있습니다.",
    ),
    _K.HASH_MISMATCH: (
        "“{subject}” 파일의 내용이 원래와 달라 사용하지 않았습니다.",
        "다시 내려받아 주세요. 또 그러면 제공하는 쪽의 문제입니다.",
    ),
    _K.DISK_FULL: (
        "“{subject}”을(를) 저장할 디스크 공간이 모자랍니다.",
        "공간을 비우고 다시 시도해 주세요. 지금까지 받아쓴 글은 사라지지 않습니다.",
    ),
    _K.OUT_OF_MEMORY: (
        "“{subject}”을(를) 처리할 메모리가 모자랍니다.",
        "다른 프로그램을 닫거나 더 작은 모델을 선택해 주세요.",
    ),
    _K.LOST_STATE: (
        "“{subject}”의 글을 이어 붙일 수 없었습니다.",
        "다시 시도해 주세요. 한꺼번에 너무 많이 실행 중이면 JAMAK_DETOKENIZER_MAX_STATES 값을 늘려 주세요.",
    ),
    _K.NO_SOUND_SOURCE: (
        "녹음할 장치({subject})를 찾지 못했습니다.",
        "장치를 연결하거나 다른 장치를 고른 뒤 다시 시작해 주세요.",
    ),
    _K.POISON: (
        "“{subject}”의 한 부분에서 인식기가 매번 멈춥니다.",
        "다른 모델을 써 보세요. 그 앞까지 받아쓴 글은 남아 있습니다.",
    ),
    _K.WORKER_DIED: (
        "“{subject}” 작업 중에 인식기가 멈췄습니다.",
        "다시 시도해 주세요. 지금까지 받아쓴 글은 남아 있습니다.",
    ),
    _K.ENGINE_DIED: (
        "“{subject}” 작업 중에 음성 엔진이 멈췄습니다.",
        "다시 시도해 주세요. 지금까지 받아쓴 글은 남아 있습니다.",
    ),
    _K.PROTOCOL_MISMATCH: (
        "다른 버전의 Jamak이 실행 중입니다.",
        "그것을 닫고 Jamak을 다시 시작해 주세요.",
    ),
    _K.NO_KEYRING: (
        "이 컴퓨터에 쓸 수 있는 키링이 없어 키를 저장하지 못했습니다.",
        "Jamak을 시작하기 전에 JAMAK_ENGINE_KEY를 지정해 주세요. 닫을 때까지는 키를 사용합니다.",
    ),
    _K.REMOTE_ADDRESS: (
        "“{subject}”은(는) 서버 주소가 아닙니다.",
        "http://host:8000/v1 처럼 쓰고, 키나 암호는 넣지 마세요.",
    ),
    _K.REMOTE_UNREACHABLE: (
        "“{subject}” 서버에 연결할 수 없습니다.",
        "주소와 연결을 확인하고 다시 시도해 주세요. 지금까지 받아쓴 글은 남아 있습니다.",
    ),
    _K.REMOTE_TLS: (
        "“{subject}” 서버의 인증서를 믿을 수 없어 연결이 안전하지 않습니다.",
        "서버 관리자에게 문의해 주세요. 아무것도 보내지 않았습니다.",
    ),
    _K.REMOTE_KEY: (
        "“{subject}” 서버가 키를 받아들이지 않습니다.",
        "설정에서 올바른 키를 넣거나 JAMAK_ENGINE_KEY를 지정해 주세요.",
    ),
    _K.REMOTE_MODEL: (
        "서버에 음성 인식 모델 “{subject}”이(가) 없습니다.",
        "설정이나 --model에서 서버가 제공하는 모델을 선택해 주세요.",
    ),
    _K.REMOTE_TOO_LARGE: (
        "“{subject}” 서버가 이만한 크기의 업로드를 받지 않습니다.",
        "서버 관리자에게 2MB 이상을 허용해 달라고 요청해 주세요.",
    ),
    _K.REMOTE_BUSY: (
        "“{subject}” 서버가 너무 오래 바쁩니다.",
        "나중에 다시 시도해 주세요. 지금까지 받아쓴 글은 남아 있습니다.",
    ),
    _K.REMOTE_REFUSED: (
        "“{subject}” 서버가 받아쓰기를 거부했습니다.",
        "자세한 내용에 이유가 있습니다. 다른 모델이나 언어로 시도해 보세요.",
    ),
    _K.REMOTE_BROKEN: (
        "“{subject}” 서버에 문제가 생겼습니다.",
        "나중에 다시 시도해 주세요. 지금까지 받아쓴 글은 남아 있습니다.",
    ),
    _K.REMOTE_NOT_UNDERSTOOD: (
        "“{subject}”의 응답이 OpenAI 받아쓰기 방식이 아닙니다.",
        "주소를 확인해 주세요. 보통 /v1로 끝납니다.",
    ),
    _K.LIBRARY_DAMAGED: (
        "보관함 “{subject}”이(가) 손상되었습니다.",
        "Jamak을 다시 시작해 주세요. 읽을 수 있는 것은 모두 옮겨 옵니다.",
    ),
    _K.INTERNAL: (
        "“{subject}” 작업 중에 Jamak 안에서 문제가 생겼습니다.",
        "다시 시도하고, 계속되면 자세한 내용을 알려 주세요.",
    ),
}

ENGLISH: Final[dict[str, str]] = {
    "seconds": "about {count} s",
    "minutes": "about {count} min",
    "hours": "about {hours} h {minutes} min",
    "no_media_in_folder": "There is no audio or video file in “{name}”.",
    "name_is_not_text": "The name of “{name}” is in no encoding that Jamak knows.",
    "name_is_not_text_hint": "Rename the file, then open it again.",
    "no_media_in_folder_hint": "Choose another folder, or the files themselves.",
    "library_set_aside": "The library was damaged. It was kept as “{name}”; "
    "{count} recordings were taken over from it.",
    "library_newer": "The library was made by a newer Jamak. It was kept as “{name}”, "
    "and an empty one was begun.",
    "settings_set_aside": "The settings were damaged. They were kept as “{name}”; the defaults are used.",
    "safe_mode": "Jamak did not start properly twice, so this start uses the default settings. "
    "Yours were kept as “{name}”.",
    "engine_given_up": "The speech engine keeps stopping. Press Retry on a file to start it once more.",
    "no_answer": "Jamak is running already, but does not answer.",
    "no_answer_hint": "End it, then start Jamak again.",
    "cli_description": "Speech to text on your own machine.",
    "cli_no_display": "There is no display to show a window on, so the text is written here.",
    "cli_cancelled": "Cancelled.",
    "cli_wrote": "Wrote {path}",
    "cli_waiting": "Starting",
    "cli_left": "{time} left",
    "cli_elsewhere": "The sound is sent to {host} to be transcribed there.",
    "cli_batch": "{done} of {all}",
    "cli_batch_found": "{all} recordings, {done} of them done already.",
    "cli_batch_failed": "{count} of {all} could not be transcribed; the same command tries them again:",
    "cli_batch_taken": "another batch is at work in this folder; wait for its end.",
    "cli_batch_resume": "The same command goes on where this ended.",
    "cli_serve_key": "Callers must show the key of {where}.",
    "cli_serve_elsewhere": "“{model}” is on a server elsewhere, which programs can call themselves. Name a "
    "model of this computer with --model; `jamak models list` shows them.",
    "cli_serve_libraries": "Libraries of the server are missing. Paste this: pip install 'jamak[server]'",
    "cli_serve_port": "{host}, port {port} cannot be listened on: {why}. Choose another with --port.",
    "cli_verified": "{model}: every file is as it should be.",
    "cli_downloaded": "{model}: downloaded and checked.",
    "cli_removed": "{model}: removed.",
    "cli_free_space": "Models are kept in {folder}; {free} free.",
    "cli_live_recording": "Recording {device} to {path}. Ctrl-C ends.",
    "cli_live_finishing": "Writing down the rest. Ctrl-C again ends at once.",
    "cli_live_kept": "The recording is {path}",
    "cli_live_lost": "{seconds} s of sound were lost; the recording is silent there.",
    "cli_live_uncaptioned": "There are no captions from here on. The recording goes on until Ctrl-C.",
    "cli_live_transcribe": 'To have all of it written down afterwards: jamak transcribe "{path}"',
    "cli_live_no_device": "No such device: “{name}”. `jamak live --list-devices` lists them.",
    "live_replaced": "Recording goes on with “{device}”.",
    "live_returned": "Recording uses “{device}” again.",
    "live_no_device": "Nothing comes from “{device}”. Silence is recorded until there is sound again.",
    "live_resumed": "“{device}” is recorded again.",
    "live_losing": "“{device}” lost sound; it was opened anew.",
    "live_overflow": "The disk was too slow: part of the sound was lost.",
    "live_folder_refused": "The folder for recordings cannot be written to. This one is kept in “{folder}”.",
    "live_disk_full": "The disk is full. Free some space within a minute; until then nothing is lost.",
    "live_disk_free": "There is room again: everything is on the disk.",
    "live_stopped": "The recording has ended because the disk is full. What was recorded is kept.",
    "live_captions_lost": "Captions have stopped; the recording goes on.",
    "live_captions_back": "Captions go on; what was missed is written down.",
    "live_recovered": "“{name}” was cut off. It is kept, and the rest is being written down.",
    "cli_crashed": "Something went wrong inside Jamak. The details are in {path}",
    "phase_missing": "not downloaded",
    "phase_partial": "partly downloaded",
    "phase_installed": "installed",
    "model_not_runnable": "cannot be run by this version",
    "model_too_large": "{phase}, too large for this computer's memory",
}

KOREAN: Final[dict[str, str]] = {
    "seconds": "약 {count}초",
    "minutes": "약 {count}분",
    "hours": "약 {hours}시간 {minutes}분",
    "no_media_in_folder": "“{name}” 폴더에 오디오나 동영상 파일이 없습니다.",
    "name_is_not_text": "“{name}”의 파일 이름이 Jamak이 모르는 인코딩으로 되어 있습니다.",
    "name_is_not_text_hint": "파일 이름을 바꾼 다음 다시 열어 주세요.",
    "no_media_in_folder_hint": "다른 폴더나 파일을 직접 선택해 주세요.",
    "library_set_aside": "보관함이 손상되었습니다. “{name}”(으)로 남겨 두고 녹음 {count}개를 옮겨 왔습니다.",
    "library_newer": "보관함이 더 새로운 Jamak에서 만들어졌습니다. “{name}”(으)로 남겨 두고 "
    "새 보관함을 만들었습니다.",
    "settings_set_aside": "설정이 손상되었습니다. “{name}”(으)로 남겨 두고 기본값을 사용합니다.",
    "safe_mode": "Jamak이 두 번 제대로 시작하지 못해 이번에는 기본 설정으로 시작했습니다. "
    "원래 설정은 “{name}”(으)로 남아 있습니다.",
    "engine_given_up": "음성 엔진이 계속 멈춥니다. 다시 시작하려면 파일에서 다시 시도를 누르세요.",
    "no_answer": "Jamak이 이미 실행 중이지만 응답하지 않습니다.",
    "no_answer_hint": "그것을 끝낸 다음 Jamak을 다시 시작해 주세요.",
    "cli_description": "내 컴퓨터에서 말을 글로 옮깁니다.",
    "cli_no_display": "창을 띄울 화면이 없어 글을 여기에 씁니다.",
    "cli_cancelled": "취소했습니다.",
    "cli_wrote": "{path} 파일을 썼습니다",
    "cli_waiting": "시작하는 중",
    "cli_left": "{time} 남음",
    "cli_elsewhere": "소리를 {host}(으)로 보내 그곳에서 받아씁니다.",
    "cli_batch": "{all}개 중 {done}개",
    "cli_batch_found": "녹음 {all}개 중 {done}개는 이미 끝났습니다.",
    "cli_batch_failed": "{all}개 중 {count}개를 받아쓰지 못했습니다. 같은 명령으로 다시 시도할 수 있습니다:",
    "cli_batch_taken": "다른 일괄 작업이 이 폴더에서 진행 중입니다. 끝난 뒤에 다시 실행하세요.",
    "cli_batch_resume": "같은 명령을 다시 실행하면 이어서 합니다.",
    "cli_serve_key": "호출하는 쪽은 {where}의 키를 보내야 합니다.",
    "cli_serve_elsewhere": "“{model}”은(는) 다른 서버의 모델이며, 프로그램이 그 서버를 직접 쓸 수 있습니다. "
    "--model로 이 컴퓨터의 모델을 지정하세요. 목록은 `jamak models list`로 볼 수 있습니다.",
    "cli_serve_libraries": "서버 라이브러리가 없습니다. 실행해 주세요: pip install 'jamak[server]'",
    "cli_serve_port": "{host} 포트 {port}을(를) 열 수 없습니다: {why}. --port로 다른 포트를 고르세요.",
    "cli_verified": "{model}: 모든 파일이 올바릅니다.",
    "cli_downloaded": "{model}: 내려받아 검사했습니다.",
    "cli_removed": "{model}: 삭제했습니다.",
    "cli_free_space": "모델은 {folder}에 있습니다. 남은 공간 {free}.",
    "cli_live_recording": "{device}에서 {path} 파일로 녹음합니다. Ctrl-C로 끝냅니다.",
    "cli_live_finishing": "나머지를 받아쓰고 있습니다. Ctrl-C를 다시 누르면 바로 끝납니다.",
    "cli_live_kept": "녹음 파일: {path}",
    "cli_live_lost": "소리 {seconds}초를 잃었습니다. 녹음에서 그 부분은 무음입니다.",
    "cli_live_uncaptioned": "이제부터 자막이 나오지 않습니다. 녹음은 Ctrl-C를 누를 때까지 계속됩니다.",
    "cli_live_transcribe": '나중에 전체를 받아쓰려면: jamak transcribe "{path}"',
    "cli_live_no_device": "“{name}” 장치가 없습니다. `jamak live --list-devices`로 목록을 볼 수 있습니다.",
    "live_replaced": "“{device}”(으)로 녹음을 계속합니다.",
    "live_returned": "다시 “{device}”에서 녹음합니다.",
    "live_no_device": "“{device}”에서 소리가 오지 않습니다. 소리가 다시 올 때까지 무음으로 녹음합니다.",
    "live_resumed": "“{device}”에서 다시 녹음합니다.",
    "live_losing": "“{device}”의 소리가 끊겨 장치를 다시 열었습니다.",
    "live_overflow": "디스크가 너무 느려 소리의 일부를 잃었습니다.",
    "live_folder_refused": "녹음 폴더로 고른 곳에 쓸 수 없습니다. 이번 녹음은 “{folder}” 폴더에 저장합니다.",
    "live_disk_full": "디스크가 가득 찼습니다. 1분 안에 공간을 비우면 잃는 것이 없습니다.",
    "live_disk_free": "공간이 생겨 모두 디스크에 저장했습니다.",
    "live_stopped": "디스크가 가득 차 녹음이 끝났습니다. 녹음한 부분은 남아 있습니다.",
    "live_captions_lost": "자막이 멈췄습니다. 녹음은 계속됩니다.",
    "live_captions_back": "자막을 다시 시작합니다. 놓친 부분도 받아씁니다.",
    "live_recovered": "“{name}” 녹음이 중간에 끊겼습니다. 파일은 남아 있으며 나머지를 받아쓰고 있습니다.",
    "cli_crashed": "Jamak 안에서 문제가 생겼습니다. 자세한 내용: {path}",
    "phase_missing": "내려받지 않음",
    "phase_partial": "일부만 내려받음",
    "phase_installed": "설치됨",
    "model_not_runnable": "이 버전에서는 실행할 수 없음",
    "model_too_large": "{phase}, 이 컴퓨터의 메모리로는 부족함",
}
