"""What macOS wants to know of the program: the bundle's Info.plist; data. Not tried on a Mac yet."""

from __future__ import annotations

from typing import Any, Final

INFO: Final[dict[str, Any]] = {
    "CFBundleDisplayName": "Jamak",
    "CFBundleDevelopmentRegion": "en",
    "CFBundleLocalizations": ["en", "ko"],
    "LSApplicationCategoryType": "public.app-category.productivity",
    "LSMinimumSystemVersion": "13.0",
    "NSHighResolutionCapable": True,
    "NSRequiresAquaSystemAppearance": False,
    "NSMicrophoneUsageDescription": "Jamak writes down what the microphone hears while you record.",
    "CFBundleDocumentTypes": [
        {
            "CFBundleTypeName": "Audio or video",
            "CFBundleTypeRole": "Viewer",
            # Never the owner of these types: a double click goes on opening the player.
            "LSHandlerRank": "Alternate",
            "LSItemContentTypes": ["public.audio", "public.movie", "public.folder"],
        }
    ],
}
