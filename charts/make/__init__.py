"""Writes what the charts share: `python -m charts.make`.

Each key of a chart's values is said once, here, with its default, its rule and what it is for. Of
that are made `values.yaml` and `values.schema.json` of each chart, the tables that the templates
read (`library/templates/_tables.tpl`), and the table of values for the docs. A test compares.
"""
