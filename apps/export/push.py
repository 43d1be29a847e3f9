"""An export sent to a hub of data sets, Hugging Face's or another that speaks as it does."""

from pathlib import Path

from webagent.errors import SetupError


def push(folder: Path, repository: str, *, is_public: bool) -> str:
    """Send the folder as a data set, made private unless told otherwise; return its address.

    The hub is HF_ENDPOINT's, the key HF_TOKEN or that of `hf auth login`. Raises `SetupError` in
    the hub's words.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    api = HfApi()
    try:
        made = api.create_repo(
            repository, repo_type="dataset", private=not is_public, exist_ok=True
        )
        api.upload_folder(
            repo_id=made.repo_id,
            repo_type="dataset",
            folder_path=folder,
            commit_message="Written by webagent export",
        )
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        raise SetupError(
            f"{folder} is written, but the hub did not accept it as {repository}: {error}; push it"
            f" with: hf upload {repository} {folder} --repo-type dataset"
        ) from error
    return str(made)
