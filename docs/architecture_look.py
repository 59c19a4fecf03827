"""How the picture of the architecture looks: colours, kinds of lines, legend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

HEADER = (
    'digraph { rankdir=TB; fontname="Helvetica"; compound=true; nodesep=0.16; ranksep=0.42;',
    # Not transparent: the letters are dark, and pages may be too.
    'bgcolor="#ffffff"; pad=0.25; newrank=true;',
    'node [shape=box, style="filled,rounded", fontname="Helvetica", fontsize=14, height=0.4, '
    'margin="0.1,0.05", color="#777777"];',
    'edge [fontname="Helvetica", fontsize=12, arrowsize=0.7];',
)
"""Of the graph, its boxes and its arrows; letters are readable where the page shows 860 pixels."""

COLOURS: Mapping[str, str] = {
    "EC2": "#dbe9f6",
    "Logs": "#dbe9f6",
    "S3": "#d5ecc8",
    "EFS": "#d5ecc8",
    "FSx": "#d5ecc8",
    "KMS": "#fbe3a8",
    "IAM": "#f8d9d9",
    "ECR": "#fdddb8",
    "EKS": "#e3d6f7",
    "SageMaker": "#e3d6f7",
    "AutoScaling": "#e3d6f7",
    "SSM": "#dbe9f6",
    "SecretsManager": "#fbe3a8",
}
"""Service to the colour of its boxes."""


@dataclass(frozen=True)
class Line:
    """A kind of line, with what the legend says of it."""

    meaning: str
    colour: str
    style: str = "solid"
    width: float = 1.4
    upward: bool = False
    """Whether it is laid out as if it were the other way round: its tail is the lower box."""

    @property
    def attributes(self) -> str:
        look = f'color="{self.colour}", fontcolor="{self.colour}", style={self.style}'
        return f"{look}, penwidth={self.width}"


DATA = Line("reads, writes, mounts", "#1f5fa8", width=2)
OUT = Line("way out of the subnets", "#2e7d32", width=2)
RULE = Line("is let in, on ports", "#b02a2a", "dashed")
BELONGS = Line("is in, is behind, acts as", "#555555")
ENCRYPTS = Line("encrypts", "#a67400", "dotted", 1.8, upward=True)
LINES = (DATA, OUT, RULE, BELONGS, ENCRYPTS)

OUTPUTS = '<FONT COLOR="#7b3fb5" POINT-SIZE="13"><B>outputs ▸</B></FONT>'
"""Stands where a line from every stack to the launcher would cross all the others."""


def legend(bottom: str) -> Iterator[str]:
    """Explain the lines, below a box that has room there."""
    rows = "".join(
        f'<TR><TD><FONT COLOR="{line.colour}"><B>{_SAMPLES[line.style]}</B></FONT></TD>'
        f'<TD ALIGN="LEFT">{line.meaning}</TD></TR>'
        for line in LINES
    )
    rows += f'<TR><TD>{OUTPUTS}</TD><TD ALIGN="LEFT">are read by the launcher</TD></TR>'
    yield (
        f'"legend" [shape=plain, style="", fontsize=13, label=<<TABLE BORDER="1" COLOR="#999999" '
        f'CELLBORDER="0" CELLSPACING="2">{rows}</TABLE>>];'
    )
    yield f'"{bottom}" -> "legend" [style=invis];'


_SAMPLES = {"solid": "───▶", "dashed": "─ ─▶", "dotted": "· · ·▶"}
