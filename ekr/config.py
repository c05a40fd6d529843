"""Settings: a user's file, then `EKR_*` variables, then flags; the later wins."""

from __future__ import annotations

from pathlib import Path

import platformdirs
from pydantic import Field, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

CONFIG_FILE = Path(platformdirs.user_config_dir("ekr")) / "config.toml"


class Settings(BaseSettings):
    """What a user can set once. Only the user's own file is read, never one that lies beside documents."""

    model_config = SettingsConfigDict(env_prefix="EKR_", toml_file=CONFIG_FILE, extra="ignore", frozen=True)

    store: Path = Field(default=Path(".ekr"), description="The store's directory")
    cache_dir: Path = Field(default=Path(platformdirs.user_cache_dir("ekr")), description="Where models lie")
    embedder: str = Field(default="multilingual-e5-small", description="Name, ONNX folder or endpoint")
    generator: str = Field(default="qwen2.5-coder-1.5b", description="Name, GGUF path, hub reference or endpoint")
    reranker: str = Field(default="auto", description="Name, GGUF path, endpoint, `none`, or `auto`: by language")
    recipe: str = Field(default="hybrid_mix", description="The recipe used when none is named")
    api_key: str | None = Field(default=None, description="Key for an OpenAI-compatible endpoint")
    threads: int | None = Field(default=None, ge=1, description="CPU threads of a model; default: all cores")
    seed: int = Field(default=0, description="Seed of the generator")

    @field_validator("store")
    @classmethod
    def _in_the_home_of_the_user(cls, store: Path) -> Path:
        # A shell leaves ~ as it is in quotes, in --store=~/x and in a file; a name like ~x may be meant as it stands.
        try:
            return store.expanduser()
        except RuntimeError:
            return store

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags first, then the environment, then the user's file; no `.env` beside the documents."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)
