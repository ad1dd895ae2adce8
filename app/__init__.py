"""The Streamlit app that loads a checkpoint, translates what you type and shows how. Start: streamlit run app/main.py"""
