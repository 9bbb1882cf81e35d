"""Tests in a real browser: JupyterLab and exported pages, pressed, read and photographed."""
