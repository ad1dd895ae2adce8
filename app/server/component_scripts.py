"""The route from which browsers fetch the scripts of the components: GET component-scripts/FILE.

The files are those of app/components/served_scripts.py.
"""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from app.component_address import FOLDER
from app.server.app_path import app_path

# The name of a file contains a hash of its content
CACHED_FOR_EVER = {"Cache-Control": "private, max-age=31536000, immutable"}


def routes() -> list[BaseRoute]:
    """The route, below the path of the app."""
    return [Route(f"{app_path()}/{FOLDER}/{{file}}", _script)]


async def _script(request: Request) -> Response:
    # Imported for the first request, not when the server starts: with it come all components.
    from app.components.served_scripts import module_in

    script = module_in(request.path_params["file"])
    if script is None:
        return PlainTextResponse("There is no such script.", 404)
    return Response(script, headers=CACHED_FOR_EVER, media_type="text/javascript")
