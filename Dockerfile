# docker build -t nlgauge . && docker run --rm -v "$PWD:/data" nlgauge run scores.csv
FROM python:3.13-slim AS build
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY pyproject.toml setup.py README.md LICENSE MANIFEST.in constraints.txt ./
COPY src ./src
RUN pip install --no-cache-dir --constraint constraints.txt --prefix /install .

FROM python:3.13-slim
COPY --from=build /install /usr/local
RUN useradd --create-home --uid 1000 nlgauge
USER 1000
WORKDIR /data
ENTRYPOINT ["nlgauge"]
CMD ["--help"]
