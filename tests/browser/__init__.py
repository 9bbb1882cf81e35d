"""Tests in a real browser: JupyterLab and exported pages, with keys, text and screenshots."""
