"""Headlight: an explorer of attention heads. Start it with `make run` or `streamlit run app.py`."""

import streamlit as st

from viz.pages import PAGES

st.set_page_config(page_title="Headlight", page_icon="🔦", layout="wide")
st.navigation(
    [
        st.Page(page.render, title=page.title, url_path=page.name, default=page is PAGES[0])
        for page in PAGES
    ],
    position="top",
).run()
