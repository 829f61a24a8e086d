"""How the caption window looks: every choice at once, with a picture of what it means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec
from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QIcon, QLinearGradient, QPainter, QPaintEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QColorDialog,
    QDialogButtonBox,
    QFontComboBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSlider,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.settings import CaptionStyle, Settings
from app.ui.caption_view import CaptionView
from app.ui.caption_window import MOST_LINES, SIZES_PT
from app.ui.compositor import has_compositor
from app.ui.form_dialog import FormDialog
from app.ui.settings_keeper import SettingsKeeper
from app.ui.wording import plain

_MOST_OUTLINE_PX: Final = 6
_SWATCH_PX: Final = 18
_NUMBER_WIDTH: Final = 80
_PREVIEW: Final = (520, 210)
_SKY: Final = ("#86b6dd", "#f1d8b4", "#3d6a4e", "#22402e")


class CaptionSettingsDialog(FormDialog):
    """The form over `Settings.captions`; each change takes effect at once, in the caption window too."""

    def __init__(self, keeper: SettingsKeeper, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._keeper = keeper
        self.setObjectName("caption_settings_dialog")
        self.setWindowTitle(self.tr("Caption settings"))
        self.preview = CaptionPreview(keeper.now.captions)
        self._build()
        self._show(keeper.now.captions)
        keeper.changed.connect(self._on_changed)

    def done(self, result: int) -> None:
        """Watch the settings no more."""
        self._keeper.changed.disconnect(self._on_changed)
        super().done(result)

    def _change(self, **fields: object) -> None:
        self._keeper.change(captions=msgspec.structs.replace(self._keeper.now.captions, **fields))

    def _on_changed(self, before: Settings, now: Settings) -> None:
        if now.captions != before.captions:
            self._show(now.captions)

    def _show(self, style: CaptionStyle) -> None:
        """Let every field say what is chosen."""
        self.preview.set_style(style)
        fields: tuple[tuple[QWidget, Callable[[], object]], ...] = (
            (self._family, lambda: self._family.setCurrentFont(QFont(style.family or self.font().family()))),
            (self._size, lambda: self._size.setValue(style.size_pt)),
            (self._bold, lambda: self._bold.setChecked(style.is_bold)),
            (self._lines, lambda: self._lines.setValue(style.num_lines)),
            (self._outline, lambda: self._outline.setValue(style.outline_px)),
            (self._opacity, lambda: self._opacity.setValue(style.opacity_percent)),
            (self._fades, lambda: self._fades.setChecked(style.fades)),
            (self._through, lambda: self._through.setChecked(style.is_click_through)),
        )
        for field, put in fields:
            with QSignalBlocker(field):
                put()
        self._text_colour.show_colour(style.text_colour)
        self._outline_colour.show_colour(style.outline_colour)
        self._background.show_colour(style.background)
        self._percent.setText(self.tr("%1 %").replace("%1", str(style.opacity_percent)))

    def _build(self) -> None:
        self._make_text_fields()
        self._make_ground_fields()
        self._make_checks()
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        _row(form, self.tr("&Font"), self._family, self._bold)
        _row(form, self.tr("&Size"), self._size, self._text_colour)
        _row(form, self.tr("&Outline"), self._outline, self._outline_colour)
        _row(form, self.tr("&Lines"), self._lines)
        _row(form, self.tr("Op&acity"), self._opacity, self._percent, self._background)
        for box in (self._fades, self._through, self._with_recording):
            form.addRow("", box)
        note = QLabel(self.tr("Move the window by dragging it, and resize it by its edges. Esc closes it."))
        note.setWordWrap(True)
        note.setForegroundRole(self.palette().ColorRole.PlaceholderText)
        form.addRow("", note)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        restore = buttons.addButton(self.tr("&Restore defaults"), QDialogButtonBox.ButtonRole.ResetRole)
        restore.setObjectName("caption_restore")
        # Enter in a field must not throw away what was chosen.
        restore.setAutoDefault(False)
        restore.clicked.connect(lambda: self._keeper.change(captions=CaptionStyle()))
        column = QVBoxLayout(self)
        column.setSpacing(14)
        column.addWidget(self.preview)
        column.addLayout(form)
        column.addStretch()
        column.addWidget(buttons)

    def _make_text_fields(self) -> None:
        self._family = QFontComboBox()
        self._family.setObjectName("caption_family")
        self._family.currentFontChanged.connect(lambda font: self._change(family=font.family()))
        self._bold = self._check("caption_bold", self.tr("&Bold"), lambda is_on: self._change(is_bold=is_on))
        self._size = _number("caption_size", SIZES_PT, self.tr(" pt"))
        self._size.valueChanged.connect(lambda value: self._change(size_pt=value))
        self._lines = _number("caption_lines", (1, MOST_LINES), "")
        self._lines.valueChanged.connect(lambda value: self._change(num_lines=value))
        self._outline = _number("caption_outline", (0, _MOST_OUTLINE_PX), self.tr(" px"))
        self._outline.valueChanged.connect(lambda value: self._change(outline_px=value))
        self._text_colour = ColourButton("caption_text_colour", self.tr("&Text colour"))
        self._text_colour.chosen.connect(lambda colour: self._change(text_colour=colour))
        self._outline_colour = ColourButton("caption_outline_colour", self.tr("Outline &colour"))
        self._outline_colour.chosen.connect(lambda colour: self._change(outline_colour=colour))

    def _make_ground_fields(self) -> None:
        self._opacity = QSlider(Qt.Orientation.Horizontal)
        self._opacity.setObjectName("caption_opacity")
        self._opacity.setRange(0, 100)
        self._opacity.setPageStep(10)
        self._opacity.valueChanged.connect(lambda value: self._change(opacity_percent=value))
        self._percent = QLabel()
        self._percent.setMinimumWidth(self._percent.fontMetrics().horizontalAdvance("100 %"))
        self._background = ColourButton("caption_background", self.tr("Back&ground"))
        self._background.chosen.connect(lambda colour: self._change(background=colour))

    def _make_checks(self) -> None:
        self._fades = self._check(
            "caption_fades",
            self.tr("Fade out when nobody s&peaks"),
            lambda is_on: self._change(fades=is_on),
        )
        self._through = self._check(
            "caption_click_through",
            self.tr("Let clicks t&hrough to the window below (Ctrl+Shift+L closes it then)"),
            lambda is_on: self._change(is_click_through=is_on),
        )
        self._with_recording = self._check(
            "caption_with_recording",
            self.tr("Open with &every recording"),
            lambda is_on: self._keeper.change(captions_with_recording=is_on),
        )
        self._with_recording.setChecked(self._keeper.now.captions_with_recording)

    def _check(self, name: str, text: str, put: Callable[[bool], None]) -> QCheckBox:
        box = QCheckBox(text)
        box.setObjectName(name)
        box.setAccessibleName(plain(text))
        box.toggled.connect(put)
        return box


class CaptionPreview(QWidget):
    """Sample captions over a picture, as they would look over a film."""

    def __init__(self, style: CaptionStyle) -> None:
        super().__init__()
        self.setObjectName("caption_preview")
        self.setAccessibleName(self.tr("Preview"))
        self.setMinimumSize(*_PREVIEW)
        self.view = CaptionView(style, is_opaque=not has_compositor(), parent=self)
        self.view.add(self.tr("What was said stays where it is,"))
        self.view.set_tail(" " + self.tr("what may change is paler"))

    def set_style(self, style: CaptionStyle) -> None:
        """Look like this."""
        self.view.set_style(msgspec.structs.replace(style, fades=False))
        self._place()

    def sizeHint(self) -> QSize:
        return QSize(*_PREVIEW)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        painter = QPainter(self)
        light = QLinearGradient(0, 0, 0, self.height())
        for place, colour in zip((0.0, 0.55, 0.56, 1.0), _SKY, strict=True):
            light.setColorAt(place, QColor(colour))
        painter.fillRect(self.rect(), light)

    def _place(self) -> None:
        height = self.view.height_for(self.view.style_in_use.num_lines)
        width = self.width() - 40
        self.view.setGeometry(20, max(12, self.height() - height - 16), width, height)


class ColourButton(QPushButton):
    """A colour and its name; pressing it asks for another.

    Signals: `chosen("#rrggbb")`.
    """

    chosen = Signal(str)

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.setObjectName(name)
        self.setAutoDefault(False)
        self._colour = "#000000"
        self.clicked.connect(self._ask)

    def show_colour(self, colour: str) -> None:
        """Show what is chosen."""
        self._colour = colour
        self.setAccessibleName(f"{plain(self.text())}, {colour}")
        scale = self.devicePixelRatioF()
        swatch = QPixmap(round(_SWATCH_PX * scale), round(_SWATCH_PX * scale))
        swatch.setDevicePixelRatio(scale)
        swatch.fill(Qt.GlobalColor.transparent)
        painter = QPainter(swatch)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self.palette().color(self.palette().ColorRole.Dark))
        painter.setBrush(QColor(colour))
        painter.drawRoundedRect(1, 1, _SWATCH_PX - 2, _SWATCH_PX - 2, 3, 3)
        painter.end()
        self.setIcon(QIcon(swatch))

    def _ask(self) -> None:
        picked = QColorDialog.getColor(QColor(self._colour), self, plain(self.text()))
        if picked.isValid():
            self.chosen.emit(picked.name())


def _number(name: str, limits: tuple[int, int], suffix: str) -> QSpinBox:
    box = QSpinBox()
    box.setObjectName(name)
    box.setRange(*limits)
    box.setSuffix(suffix)
    box.setMinimumWidth(_NUMBER_WIDTH)
    return box


def _row(form: QFormLayout, text: str, field: QWidget, *beside: QWidget) -> None:
    """Add a labelled row with more fields beside the first; the label names the first."""
    field.setAccessibleName(plain(text))
    holder = QWidget()
    row = QHBoxLayout(holder)
    row.setContentsMargins(0, 0, 0, 0)
    row.addWidget(field, 0 if isinstance(field, QSpinBox) else 1)
    for one in beside:
        row.addWidget(one)
    if isinstance(field, QSpinBox):
        row.addStretch()
    form.addRow(text, holder)
    label = form.labelForField(holder)
    if isinstance(label, QLabel):
        label.setBuddy(field)
        # A mnemonic splits the word and undoes its kerning: it is wider than Qt has measured.
        label.setContentsMargins(0, 0, 3, 0)
