"""A class follows the lecturer on its phones.

    lecturer (a Streamlit session)  ->  class_state (memory of the server)  ->  class_routes  ->  phones (no session)

`lecturer` opens a class, publishes what it sees, and reveals answers. `class_state` has everything that is known of a
class, with all limits; nothing is stored on disk. `class_routes` are HTTP routes beside Streamlit's. The page of a
phone is app/components/class_page: it draws the canvas with the same scripts as the app.
"""
