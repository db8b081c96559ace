# The image contains only the service: no compiler, no sources, no secrets. docs/deploy.md says how to run it.
# PYTHON_IMAGE can be a copy of the base image on a mirror, or one pinned by digest.
ARG PYTHON_IMAGE=python:3.13-slim-trixie

FROM ${PYTHON_IMAGE} AS build
ARG HOLDFAST_PROJECT_URL=
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /build
COPY requirements/ requirements/
RUN python -m venv /opt/holdfast \
 && /opt/holdfast/bin/python -m pip install --require-hashes --only-binary :all: --no-deps -r requirements/run.lock \
 && python -m venv tools-venv \
 && tools-venv/bin/python -m pip install --require-hashes --only-binary :all: --no-deps \
    -r requirements/build.lock -r requirements/node.lock
COPY pyproject.toml README.md LICENSE ./
COPY browser/ browser/
COPY enclave/ enclave/
COPY tools/ tools/
COPY src/ src/
RUN tools-venv/bin/python -m pip wheel --no-deps --no-build-isolation --wheel-dir dist . \
 && /opt/holdfast/bin/python -m pip install --no-deps --no-index dist/*.whl \
 && /opt/holdfast/bin/python -m pip uninstall --yes pip setuptools

FROM ${PYTHON_IMAGE}
# Where your copy of the sources is, and its commit: --build-arg HOLDFAST_PROJECT_URL=https://… --build-arg REVISION=…
ARG HOLDFAST_PROJECT_URL=
ARG REVISION=
LABEL org.opencontainers.image.title="Holdfast" \
      org.opencontainers.image.description="Registration and identity vault" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.2.0" \
      org.opencontainers.image.url="${HOLDFAST_PROJECT_URL}" \
      org.opencontainers.image.source="${HOLDFAST_PROJECT_URL}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /opt/holdfast /opt/holdfast
# The service writes only to /data; a new volume gets the owner and mode of this folder.
RUN install -d -m 0700 -o 10001 -g 10001 /data
ENV PATH=/opt/holdfast/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    HOLDFAST_ENV=production \
    HOLDFAST_HOST=0.0.0.0 \
    HOLDFAST_PORT=8787 \
    HOLDFAST_DATA_DIR=/data
USER 10001:10001
# Python uses this folder for temporary files if the root file system, including /tmp, is read-only.
WORKDIR /data
VOLUME /data
EXPOSE 8787
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s CMD ["holdfast", "ready"]
ENTRYPOINT ["holdfast"]
CMD ["serve"]
