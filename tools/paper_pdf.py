#!/usr/bin/env python3
"""Print the paper of the built site as a PDF: `make paper`, or python tools/paper_pdf.py [SITE] [PDF].

Chromium prints the page for A4 without the navigation. The PDF is not committed, because it is made from the page.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

STYLE = """<style>
@page { size: A4; margin: 17mm 18mm; }
html, body { font-size: 9.6pt; background: #fff; }
body { --font-stack: "DejaVu Serif", Georgia, serif; }
.sidebar-drawer, .toc-drawer, .mobile-header, .related-pages, .bottom-of-page, .content-icon-container, .headerlink,
.announcement, .back-to-top, .skip-to-content, footer { display: none !important; }
.page, .main, .content, .article-container { display: block !important; width: auto !important; max-width: none !important;
  padding: 0 !important; margin: 0 !important; overflow: visible !important; }
article { column-count: 1; line-height: 1.38; }
h1 { font-size: 17pt; margin: 0 0 6pt; } h2 { font-size: 12.5pt; margin: 12pt 0 4pt; } h3 { font-size: 10.5pt; margin: 9pt 0 3pt; }
p, li { margin: 0 0 4pt; } h2, h3 { break-after: avoid; }
table { font-size: 8.4pt; margin: 4pt 0 !important; } tr, figure { break-inside: avoid; }
td, th { padding: 1.5pt 5pt !important; }
figure.picture { margin: 6pt auto !important; overflow: visible !important; }
figure svg.drawn { max-width: 125mm !important; min-width: 0 !important; margin: 0 auto; }
</style>"""


def printable(page: str) -> str:
    """Return the page for print: light colours, no navigation, and no scripts.

    Args:
        page: HTML.
    """
    page = re.sub(r"<script\b.*?</script>", "", page, flags=re.DOTALL)
    page = re.sub(r"<body[^>]*>", '<body data-theme="light">', page)
    return page.replace("</head>", f"{STYLE}</head>", 1)


def main() -> int:
    """Print the paper."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", nargs="?", type=Path, default=ROOT / "site", help="the built site")
    parser.add_argument("pdf", nargs="?", type=Path, default=ROOT / "build" / "paper.pdf", help="the file to write")
    options = parser.parse_args()
    page = options.site / "paper.html"
    if not page.is_file():
        print(f"'{page}' does not exist; build the site first: make docs", file=sys.stderr)
        return 2
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("the PDF is printed by Chromium, and there is none on this machine; install it", file=sys.stderr)
        return 2
    options.pdf.parent.mkdir(parents=True, exist_ok=True)
    made = page.with_name("paper-for-print.html")  # beside the page, so that its style sheets are found
    try:
        made.write_text(printable(page.read_text("utf-8")), "utf-8")
        with tempfile.TemporaryDirectory() as profile:
            command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
            command += ["--no-pdf-header-footer", f"--print-to-pdf={options.pdf.resolve()}", made.resolve().as_uri()]
            subprocess.run(command, check=True, capture_output=True, timeout=300)
    finally:
        made.unlink(missing_ok=True)
    print(options.pdf)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
