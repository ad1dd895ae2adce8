"""The page of a phone that follows a class. Streamlit does not know it: app/classroom/class_routes.py serves it."""
