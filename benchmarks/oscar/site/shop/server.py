"""Serves the shop from its state: `python -m benchmarks.oscar.site.shop.server PORT`."""

import os
import sys


def main() -> None:
    """Serve on 127.0.0.1 until the process is ended."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks.oscar.site.shop.settings")
    from django.core.wsgi import get_wsgi_application
    from waitress import serve

    serve(get_wsgi_application(), host="127.0.0.1", port=int(sys.argv[1]), threads=4, ident=None)


if __name__ == "__main__":
    main()
