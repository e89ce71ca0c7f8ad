"""Calls that MLflow reports, which sends them by OTLP instead of to its own server if the variables say so."""

import mlflow

from calls import make_calls

mlflow.openai.autolog()
make_calls()
