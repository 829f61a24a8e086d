"""Puts the window into the chosen language: our texts, and those of Qt's own dialogs."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from app import texts
from app.paths import resource
from app.settings import UiLanguage


class Translation:
    """The translators that are installed in an application."""

    def __init__(self, app: QCoreApplication) -> None:
        self._app = app
        self._installed: list[QTranslator] = []

    def use(self, language: UiLanguage) -> None:
        """Speak `language` from now on; widgets that exist keep the old one."""
        code = language_code(language)
        self.clear()
        qt_folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        self._install(f"qtbase_{code}", qt_folder)
        for name in ("jamak", "models"):
            self._install(f"{name}_{code}", str(resource("translations")))
        texts.use_language(code)
        QLocale.setDefault(QLocale(code) if language is not UiLanguage.SYSTEM else QLocale.system())

    def clear(self) -> None:
        """Take all translators out: the texts are those of the sources again."""
        for translator in self._installed:
            self._app.removeTranslator(translator)
        self._installed = []

    def _install(self, name: str, folder: str) -> None:
        translator = QTranslator()
        if translator.load(name, folder):
            self._app.installTranslator(translator)
            self._installed.append(translator)


def language_code(language: UiLanguage) -> str:
    """Return the code of the language to speak; the system's is the first of its list that we have."""
    match language:
        case UiLanguage.SYSTEM:
            wanted = [one.split("-")[0] for one in QLocale.system().uiLanguages()]
            return next((code for code in wanted if code in texts.LANGUAGES), "en")
        case UiLanguage.ENGLISH | UiLanguage.KOREAN:
            return language.value
