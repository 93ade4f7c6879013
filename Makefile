# Everything a developer of Tandem does by command. `make` alone lists the targets.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := help

# The folder with real data (brands.tsv); where it is absent, tests are skipped and the demo makes names up.
export TANDEM_SHARED ?= $(abspath ../shared)

# Libraries with a DocC catalogue: Sources/Tandem/Tandem.docc and its like.
LIBRARIES := $(sort $(patsubst Sources/%/,%,$(dir $(wildcard Sources/*/*.docc))))

# The packages beside this one build into its own products: what both need is compiled once.
# NB: SwiftPM takes the plan that is there for its own, whichever package it is of: each of them begins by dropping it.
REPLAN := rm -f .build/*/debug/description.json .build/*/release/description.json
EXAMPLE := --package-path Examples/DiscountCards --scratch-path .build
BENCHMARKS := --package-path Benchmarks --scratch-path .build -c release

.PHONY: help setup demo test test-macros test-examples soak interop tsan bench docs format lint clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what the build needs, where it is missing
	@Scripts/setup.sh

demo: setup ## Tell the example app's story: 15,000 names offline, then two devices and a server [KEY=passphrase: encrypted]
	@$(REPLAN)
	@$(if $(KEY),CARDS_KEY="$$KEY") swift run $(EXAMPLE) cards demo

test: ## Build and run the tests [FILTER=name: those whose name matches]
	@Scripts/setup.sh strace openssl
	@$(if $(FILTER),true,$(MAKE) test-macros)
	@$(REPLAN)
	@swift build --build-tests
	@swift test --skip-build $(if $(FILTER),--filter '$(FILTER)',--skip 'LiveOracleTests|SQLiteCipherTests|WriterGateTests|TandemTests.AsyncTests|TandemSyncTests|TandemDatasyncTests|TandemSyncProcessTests|TandemSimulationTests')
	@# They start, trace and kill processes, which would starve those that count on a time.
	@$(if $(FILTER),true,swift test --skip-build --filter SQLiteCipherTests)
	@# Random calls on two stores for seconds on end, on the few threads that others wait for.
	@$(if $(FILTER),true,swift test --skip-build --filter TandemSyncTests --skip 'FileRandomTests|FileCrashTests')
	@# Histories of files at random, which would have writers wait for a thread.
	@$(if $(FILTER),true,swift test --skip-build --filter 'FileRandomTests|FileCrashTests')
	@# They talk over sockets, with time limits, and measure the process's memory.
	@$(if $(FILTER),true,swift test --skip-build --filter TandemDatasyncTests)
	@# They start processes that sync, and kill them.
	@$(if $(FILTER),true,swift test --skip-build --filter TandemSyncProcessTests)
	@# Random histories of sync, for three minutes, on all cores.
	@$(if $(FILTER),true,swift test --skip-build --filter TandemSimulationTests)
	@# A writer that has its turn needs a thread to take it, and tests that wait for processes hold the few there are.
	@$(if $(FILTER),true,swift test --skip-build --filter 'WriterGateTests|TandemTests.AsyncTests')
	@# Its asynchronous sequences need the few threads that tests running beside it would hold.
	@$(if $(FILTER),true,swift test --skip-build --filter LiveOracleTests)

test-macros: setup ## Build and run the macros' own tests, which are a build of their own: see Package.swift [FILTER=name]
	@$(REPLAN)
	@TANDEM_MACRO_TESTS=1 swift test $(if $(FILTER),--filter '$(FILTER)')

test-examples: setup ## Build and run the example app's own tests
	@$(REPLAN)
	@swift test $(EXAMPLE)

soak: ## Run the tests in their long form [FILTER=name]
	@Scripts/setup.sh strace openssl
	@$(if $(FILTER),true,$(MAKE) test-macros)
	@$(REPLAN)
	@swift build --build-tests
	@TANDEM_SOAK=1 swift test --skip-build $(if $(FILTER),--filter '$(FILTER)',--skip MillionTests --skip LiveOracleTests --skip TandemDatasyncTests --skip TandemSyncProcessTests --skip TandemSimulationTests)
	@# It measures the process's memory, and so runs by itself.
	@$(if $(FILTER),true,TANDEM_SOAK=1 swift test --skip-build --filter MillionTests)
	@$(if $(FILTER),true,TANDEM_SOAK=1 swift test --skip-build --filter LiveOracleTests)
	@$(if $(FILTER),true,TANDEM_SOAK=1 swift test --skip-build --filter TandemDatasyncTests)
	@$(if $(FILTER),true,TANDEM_SOAK=1 swift test --skip-build --filter TandemSyncProcessTests)
	@$(if $(FILTER),true,TANDEM_SOAK=1 swift test --skip-build --filter TandemSimulationTests)

interop: ## Exchange encrypted databases with SQLCipher 4 and SQLite3 Multiple Ciphers, and files with an S3 server, from PyPI [ROUNDS=n]
	@Scripts/setup.sh python3 python3-venv
	@$(REPLAN)
	@Scripts/interop.sh $(ROUNDS)

tsan: setup ## Run the live tests under the thread sanitizer, in a build of its own [FILTER=name]
	@TANDEM_TSAN=1 TSAN_OPTIONS="$${TSAN_OPTIONS:-halt_on_error=0 exitcode=66}" \
	    swift test --sanitize=thread --scratch-path .build-tsan --no-parallel --skip LiveOracleTests \
	        --filter '$(if $(FILTER),$(FILTER),ReadAheadTests|PageBatchTests|FrameQueueTests|TandemTests\..*(Live|Publish|Demand|Scheduler|Cancelling|Deadlock|QuietWrite|Window))'
	@# Some random histories: each takes the sanitizer a hundred times as long.
	@$(if $(FILTER),true,TANDEM_TSAN=1 TANDEM_HISTORIES=40 \
	    TSAN_OPTIONS="$${TSAN_OPTIONS:-halt_on_error=0 exitcode=66}" \
	    swift test --skip-build --sanitize=thread --scratch-path .build-tsan --filter 'LiveOracleTests.*what')

bench: setup ## Run the benchmarks, in release [ONLY=task]; a full run rewrites Benchmarks/RESULTS.md
	@Scripts/setup.sh curl python3 python3-venv
	@$(REPLAN)
	@# SQLCipher takes part where PyPI can be reached.
	@TANDEM_PEERS_PYTHON="$$(Scripts/peers.sh || true)" \
	    swift run $(BENCHMARKS) Benchmarks $(if $(ONLY),$(ONLY),--markdown Benchmarks/RESULTS.md)

docs: setup ## Build the DocC archives of all libraries into .build/docs
	@test -n "$(LIBRARIES)" || { echo "make docs: no DocC catalogue under Sources" >&2; exit 1; }
	@# At once, and to where the plugin puts it: a plan for each library would take longer than its documentation.
	@TANDEM_DOCS=1 swift package generate-documentation $(LIBRARIES:%=--target %)
	@rm -rf .build/docs && mkdir -p .build/docs
	@for library in $(LIBRARIES); do mv ".build/plugins/Swift-DocC/outputs/$$library.doccarchive" .build/docs/; done

format: ## Format all Swift files in place
	@Scripts/swift-files.sh | xargs -0 swift format format --in-place --parallel

lint: ## Check that all Swift files are formatted, and the style rules
	@Scripts/swift-files.sh | xargs -0 swift format lint --strict --parallel

clean: ## Remove all build products
	@rm -rf .build .build-tsan Examples/DiscountCards/.build Benchmarks/.build
