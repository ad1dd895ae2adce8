"""The Streamlit app: it loads a checkpoint, translates what you type and shows how. `streamlit run app/main.py`"""
