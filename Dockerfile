# The compendium with everything that the lock file pins; `make book` and `make test` run in it.
FROM python:3.11.7-slim-bookworm
RUN apt-get update -qq \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends git make \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /compendium
COPY . .
RUN make setup
CMD ["make", "book"]
