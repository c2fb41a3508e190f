"""A script for viser's page: replaced tactile images still load.

viser frees the data of a tactile image as soon as the next one arrives, even while the browser is still
loading it, which is an error in the console. The script frees the data later.
"""

from __future__ import annotations

IMAGE_SCRIPT = """<script>
(() => {
  const KEEP = 5000;  // ms
  const revoke = URL.revokeObjectURL.bind(URL);
  URL.revokeObjectURL = (url) => setTimeout(revoke, KEEP, url);
})();
</script>
"""
"""The script as HTML."""
