"""The address of the components' scripts. It is not in app/components: with that package come all components, and the
server needs the address when it starts."""

FOLDER = "component-scripts"  # in the same folder as the pages, so a relative address is right on every page
