"""A plugin of Kinto that serves the attached files from their folder, for development.

In production a web server does this: see production/nginx.conf.
"""


def includeme(config):
    folder = config.get_settings().get("kinto.attachment.base_path") or config.get_settings()["attachment.base_path"]
    config.add_static_view("files", folder)
