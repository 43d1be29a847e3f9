"""The Django project that is the shop; it needs django-oscar and runs in a process of its own."""
