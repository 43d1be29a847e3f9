"""Settings of the shop; its state is the folder named by `WEBAGENT_SHOP_STATE`.

Nothing is kept in memory between requests: the database may be replaced at any time.
"""

import os
from pathlib import Path

from oscar import INSTALLED_APPS as OSCAR_APPS
from oscar.defaults import *  # noqa: F403 - how Oscar is set up

from benchmarks.oscar.site.people import NEXT_STATUSES

STATE = Path(os.environ["WEBAGENT_SHOP_STATE"])
SECRET_KEY = "made up: every instance of the shop reads the cookies of the others"
DEBUG = False
ALLOWED_HOSTS = ["*"]
SITE_ID = 1
ROOT_URLCONF = "benchmarks.oscar.site.shop.urls"
WSGI_APPLICATION = None
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en-gb"
USE_I18N = False
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"

INSTALLED_APPS = [*OSCAR_APPS]
MIDDLEWARE = [
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.contrib.flatpages.middleware.FlatpageFallbackMiddleware",
    "oscar.apps.basket.middleware.BasketMiddleware",
]
AUTHENTICATION_BACKENDS = [
    "oscar.apps.customer.auth_backends.EmailBackend",
    "django.contrib.auth.backends.ModelBackend",
]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": STATE / "shop.sqlite3",
        "CONN_MAX_AGE": 0,
        "ATOMIC_REQUESTS": True,
        "OPTIONS": {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY;",
        },
    }
}
CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}
SESSION_ENGINE = "django.contrib.sessions.backends.db"
SESSION_COOKIE_AGE = 20 * 365 * 24 * 3600
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
HAYSTACK_CONNECTIONS = {"default": {"ENGINE": "benchmarks.oscar.site.shop.search.DatabaseEngine"}}
HAYSTACK_SIGNAL_PROCESSOR = "haystack.signals.BaseSignalProcessor"

STATIC_URL = "/static/"
STATIC_ROOT = None
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False
WHITENOISE_MAX_AGE = 3600
MEDIA_URL = "/media/"
MEDIA_ROOT = STATE / "media"

# Oscar's own asks a far server for jQuery first.
_BASE = """{% extends 'oscar/base.html' %}{% load static %}{% block cdn_scripts %}
<script src="{% static 'oscar/js/jquery/jquery.min.js' %}"></script>{% endblock %}"""
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.template.context_processors.media",
                "django.template.context_processors.static",
                "django.contrib.messages.context_processors.messages",
                "oscar.apps.search.context_processors.search_form",
                "oscar.apps.checkout.context_processors.checkout",
                "oscar.apps.communication.notifications.context_processors.notifications",
                "oscar.core.context_processors.metadata",
            ],
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    [
                        ("django.template.loaders.locmem.Loader", {"oscar/base.html": _BASE}),
                        "django.template.loaders.app_directories.Loader",
                    ],
                )
            ],
        },
    }
]

OSCAR_SHOP_NAME = "Lantern Street"
OSCAR_SHOP_TAGLINE = "Things for house and garden"
OSCAR_DEFAULT_CURRENCY = "GBP"
OSCAR_SAVE_SENT_EMAILS_TO_DB = False
OSCAR_EAGER_ALERTS = False
OSCAR_MODERATE_REVIEWS = False
OSCAR_THUMBNAILER = "benchmarks.oscar.site.shop.pictures.AsItIs"
OSCAR_IMAGE_FOLDER = "products/"
OSCAR_DASHBOARD_ITEMS_PER_PAGE = 20
OSCAR_SEARCH_FACETS: dict[str, dict[str, object]] = {"fields": {}, "queries": {}}
OSCAR_INITIAL_ORDER_STATUS = "Pending"
OSCAR_INITIAL_LINE_STATUS = "Pending"
OSCAR_ORDER_STATUS_PIPELINE = NEXT_STATUSES
OSCAR_LINE_STATUS_PIPELINE = OSCAR_ORDER_STATUS_PIPELINE
LOGGING = {"version": 1, "disable_existing_loggers": False, "root": {"level": "ERROR"}}
