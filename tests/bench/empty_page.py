"""The least that a Streamlit page can do: what a click costs before any work of ours."""

import streamlit as st

st.session_state.clicks = st.session_state.get("clicks", 0) + st.button("Click")
level = st.slider("Level", 0, 10_000)  # more than any benchmark steps through
st.html(f"<div id='out'>{st.session_state.clicks} {level}</div>")
