# All developer commands. `make` without arguments lists the targets.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := help
# The folder with real data (brands.tsv). Without it, tests are skipped and the demo generates names.
export TANDEM_SHARED ?= $(abspath ../shared)
# Optimize the targets in which tests spend their time: see Package.swift.
export TANDEM_OPTIMIZE ?= 1
# The packages beside this one share its build folder. SwiftPM reuses an existing plan even if it belongs to another.
REPLAN := rm -f .build/*/debug/description.json .build/*/release/description.json
EXAMPLE := --package-path Examples/DiscountCards --scratch-path .build
.PHONY: help setup demo web kinto test test-macros test-examples test-browser quick soak tsan interop bench docs format lint release-check clean
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
setup: ## Install missing system packages
	@Scripts/setup.sh
demo: setup ## Run the example app's story: 15,000 names offline, two devices, a server [KEY=passphrase: encrypted]
	@$(REPLAN)
	@$(if $(KEY),CARDS_KEY="$$KEY") swift run $(EXAMPLE) cards demo
web: setup ## Serve the example app as pages for browsers, until Ctrl-C [STORE=cards.tandem] [PORT=number]
	@$(REPLAN)
	@swift run $(EXAMPLE) cards web $(if $(STORE),--store '$(STORE)') $(if $(PORT),--port $(PORT))
kinto: ## Run Kinto on PostgreSQL for the example app, until Ctrl-C [PORT=8888] [KEEP=folder: keep the data]
	@Scripts/setup.sh python3 python3-venv postgresql curl openssl
	@Scripts/kinto.sh $(if $(PORT),--port $(PORT)) $(if $(KEEP),--keep $(KEEP))
test: ## Build and run the tests [FILTER=pattern]
	@Scripts/setup.sh strace openssl
	@$(if $(FILTER),true,Scripts/test.sh --macros)
	@Scripts/test.sh '$(FILTER)'
test-macros: setup ## Build and run the macros' own tests [FILTER=pattern]
	@Scripts/test.sh --macros '$(FILTER)'
test-examples: setup ## Build and run the example app's own tests
	@$(REPLAN)
	@swift test $(EXAMPLE)
test-browser: ## Test the pages of the example app and of `tandem browse` in Chromium [FILTER=name]
	@Scripts/setup.sh python3 python3-venv chromium
	@$(REPLAN)
	@Scripts/test-browser.sh $(FILTER)
quick: setup ## Format, lint, build and test what differs from main
	@Scripts/quick.sh
soak: ## Run the tests in their long form, and under the thread sanitizer [FILTER=pattern]
	@Scripts/setup.sh strace openssl
	@$(if $(FILTER),true,TANDEM_SOAK=1 Scripts/test.sh --macros)
	@TANDEM_SOAK=1 Scripts/test.sh '$(FILTER)'
	@$(if $(FILTER),true,$(MAKE) tsan)
tsan: setup ## Run the tests, except those of the macros, under the thread sanitizer [FILTER=pattern]
	@Scripts/test.sh --tsan '$(FILTER)'
interop: ## Compare the order of names with ICU, and exchange data with SQLCipher, S3, Kinto and others [ROUNDS=n]
	@Scripts/setup.sh python3 python3-venv postgresql curl openssl libicu72
	@$(REPLAN)
	@Scripts/interop.sh $(ROUNDS)
bench: ## Run the benchmarks, in release, record them in Benchmarks/RESULTS.md and draw the charts [ONLY=task or section]
	@Scripts/setup.sh curl python3 python3-venv postgresql
	@Scripts/bench.sh $(ONLY)
docs: setup ## Build the DocC archives of all libraries into .build/docs, if sources or articles changed
	@Scripts/docs.sh
format: ## Format all Swift files in place
	@Scripts/swift-files.sh | xargs -0 swift format format --in-place --parallel
lint: ## Check that all Swift files are formatted, the style rules, and the charts of the benchmarks
	@Scripts/lint.sh
release-check: setup ## Run the checks too long for CI and record them in .ci/release-check [PARTS=names]
	@Scripts/release-check.sh $(PARTS)
clean: ## Remove all build products
	@rm -rf .build .build-tsan Examples/DiscountCards/.build Benchmarks/.build
