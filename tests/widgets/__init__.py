"""Tests of the widgets' Python side: payloads, formulas, pages, traits."""
