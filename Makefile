# kernelml: the build.
#
#   make, make install, make installcheck     for a server you have (PG_CONFIG=… chooses it)
#   make demo, make check                     need nothing installed; use a private server
#   make unit, make regress, make fuzz        parts of make check; TESTS="a b" chooses some
#   make bench                                measurements beside scikit-learn
#
# Two layers: src/core is C11 on OpenBLAS and never sees a PostgreSQL header; src/pg is the
# glue.  Everything built lands in $(BUILD), except kernelml.so.
# Options: WERROR=1, CC=clang, BUILD=dir, OPENBLAS_CFLAGS=…, OPENBLAS_LIBS=…, NLOPT_LIBS=….

EXTENSION := kernelml
EXTVERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" kernelml.control)
BUILD ?= build
WARNINGS := -Wall -Wextra $(if $(WERROR),-Werror)
.DEFAULT_GOAL := all

# PostgreSQL's makefiles set CC to what built the server; core keeps to the caller's choice.
CORE_CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
FUZZ_CC ?= clang

# ---- OpenBLAS: the serial flavour, static, so that a backend gains no thread -------------
MULTIARCH := $(shell dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || $(CORE_CC) -print-multiarch)
OPENBLAS_ARCHIVE := /usr/lib/$(MULTIARCH)/openblas-serial/libopenblas.a
ifndef OPENBLAS_LIBS
OPENBLAS_MISSING := $(if $(wildcard $(OPENBLAS_ARCHIVE)),,yes)
endif
OPENBLAS_CFLAGS ?= -I/usr/include/$(MULTIARCH)/openblas-serial
OPENBLAS_LIBS ?= $(OPENBLAS_ARCHIVE) -lm
define NO_OPENBLAS
no serial OpenBLAS at $(OPENBLAS_ARCHIVE): \
install the Debian package libopenblas-serial-dev, or set OPENBLAS_CFLAGS and OPENBLAS_LIBS
endef

# ---- NLopt: small, without threads, from the system --------------------------------------
NLOPT_CFLAGS ?=
NLOPT_LIBS ?= -lnlopt
LIBS_OF_CORE = $(NLOPT_LIBS) $(OPENBLAS_LIBS)

# A stamp that changes when its text does: $(call stamp,text)
stamp = mkdir -p $(@D) && echo '$(strip $(1))' | cmp -s - $@ || echo '$(strip $(1))' > $@

# ---- core ---------------------------------------------------------------------------------
# No PostgreSQL include path here: that is how the layers are kept apart.  No contraction of
# a*b+c: fused operations are written out, so that every build gives the same bits.
CORE_CFLAGS := -std=gnu11 -O2 -g -fPIC -fvisibility=hidden -ffp-contract=off $(WARNINGS) \
	-Isrc/core $(OPENBLAS_CFLAGS) $(NLOPT_CFLAGS)

# Files in src/core/simd are compiled once per instruction set and chosen at run time.
VARIANTS := base $(if $(filter x86_64%,$(MULTIARCH)),avx2 avx512)
FLAGS_base :=
FLAGS_avx2 := -mavx2 -mfma
FLAGS_avx512 := -mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma -mprefer-vector-width=512

CORE_STEMS := $(patsubst src/core/%.c,%,$(wildcard src/core/*.c)) \
	$(foreach v,$(VARIANTS),$(patsubst src/core/%.c,%.$(v),$(wildcard src/core/simd/*.c)))
core_objects = $(CORE_STEMS:%=$(BUILD)/$(1)/%.o)

$(BUILD)/flags: FORCE
	@$(if $(OPENBLAS_MISSING),$(error $(NO_OPENBLAS)))
	@$(call stamp,$(CORE_CC) $(CORE_CFLAGS) $(LIBS_OF_CORE) $(FUZZ_CC))

# $(call core_library,flavour,compiler,flags): the rules for $(BUILD)/flavour/libkernelml.a
define core_library
$(BUILD)/$(1)/%.o: src/core/%.c $(BUILD)/flags
	@mkdir -p $$(@D)
	$(2) $(CORE_CFLAGS) $(3) -MMD -MP -c $$< -o $$@
$(foreach v,$(VARIANTS),
$(BUILD)/$(1)/simd/%.$(v).o: src/core/simd/%.c $(BUILD)/flags
	@mkdir -p $$(@D)
	$(2) $(CORE_CFLAGS) $(3) -DKM_VARIANT=$(v) $(FLAGS_$(v)) -MMD -MP -c $$< -o $$@
)
$(BUILD)/$(1)/libkernelml.a: $(call core_objects,$(1))
	@rm -f $$@
	ar rcs $$@ $$^
-include $(patsubst %.o,%.d,$(call core_objects,$(1)))
endef

SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
FUZZ := -fsanitize=fuzzer-no-link $(SANITIZE)
$(eval $(call core_library,core,$(CORE_CC),))
$(eval $(call core_library,core-san,$(CORE_CC),$(SANITIZE)))
$(eval $(call core_library,core-fuzz,$(FUZZ_CC),$(FUZZ)))

# ---- programs on core alone: unit tests, plain and sanitised, fuzz targets, primitives ------
UNIT_TESTS := $(patsubst test/unit/%.c,%,$(wildcard test/unit/test_*.c))
UNIT_SUPPORT := $(filter-out test/unit/test_%,$(wildcard test/unit/*.c))
FUZZ_TARGETS := $(patsubst test/fuzz/%.c,%,$(wildcard test/fuzz/fuzz_*.c))

# $(call core_program,folder,sources,compiler,flags,core flavour,libraries,shared sources)
define core_program
$(BUILD)/$(1)/%: $(2)/%.c $(7) $(BUILD)/$(5)/libkernelml.a
	@mkdir -p $$(@D)
	$(3) $(CORE_CFLAGS) -I$(2) $(4) -MMD -MP -o $$@ $$(filter %.c,$$^) $(6) \
		-Wl,--start-group $$(filter %.a,$$^) $(LIBS_OF_CORE) -Wl,--end-group
-include $(wildcard $(BUILD)/$(1)/*.d)
endef
$(eval $(call core_program,unit,test/unit,$(CORE_CC),,core,-lcmocka,$(UNIT_SUPPORT)))
$(eval $(call core_program,unit-san,test/unit,$(CORE_CC),$(SANITIZE),core-san,-lcmocka,$(UNIT_SUPPORT)))
$(eval $(call core_program,bench,bench,$(CORE_CC),,core,))
$(eval $(call core_program,fuzz,test/fuzz,$(FUZZ_CC),$(FUZZ) -fsanitize=fuzzer,core-fuzz,))

unit-programs: $(UNIT_TESTS:%=$(BUILD)/unit/%)
unit-san-programs: $(UNIT_TESTS:%=$(BUILD)/unit-san/%)
fuzz-programs: $(FUZZ_TARGETS:%=$(BUILD)/fuzz/%)

# ---- what works before PostgreSQL is installed: the scripts do it, calling make for the rest --
DRIVERS := deps check demo bench unit regress isolation tap readme fuzz layers
.PHONY: FORCE $(DRIVERS) unit-programs unit-san-programs fuzz-programs
.SECONDARY:

ifneq ($(filter $(DRIVERS),$(MAKECMDGOALS)),)
deps:
	scripts/setup check
check demo:
	scripts/setup $@
	scripts/$@
unit regress isolation tap readme fuzz layers:
	scripts/$@ $(TESTS)
bench:
	bench/run
else ifeq ($(filter $(BUILD)/unit% $(BUILD)/fuzz% %-programs,$(MAKECMDGOALS)),)

# ---- the extension, on PGXS -----------------------------------------------------------------
PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
ifeq ($(PGXS),)
$(error $(PG_CONFIG) not found: install postgresql-server-dev, run "make deps", or set PG_CONFIG)
endif

# No LLVM bitcode: it could only inline the thin glue, whose cost is nothing beside core's.
override with_llvm = no

MODULE_big := kernelml
PG_OBJECTS := $(patsubst src/pg/%.c,$(BUILD)/pg/%.o,$(wildcard src/pg/*.c))
OBJS := $(PG_OBJECTS) $(call core_objects,core)
INSTALL_SQL := $(sort $(wildcard sql/[0-9]*.sql))
DATA := $(wildcard sql/kernelml--*--*.sql)
DATA_built := $(BUILD)/kernelml--$(EXTVERSION).sql
EXTRA_CLEAN := $(BUILD)

PG_CPPFLAGS := -Isrc/core -Isrc/pg -DKERNELML_VERSION='"$(EXTVERSION)"'
PG_CFLAGS := -std=gnu11 -ffp-contract=off
SHLIB_LINK := $(LIBS_OF_CORE) -Wl,--exclude-libs,ALL -Wl,-Bsymbolic -Wl,--version-script=$(BUILD)/exports.map \
	-Wl,--wrap=blas_memory_alloc

REGRESS := $(sort $(patsubst test/sql/%.sql,%,$(wildcard test/sql/*.sql)))
REGRESS_OPTS := --inputdir=test --load-extension=kernelml
ISOLATION := $(patsubst test/specs/%.spec,%,$(wildcard test/specs/*.spec))
ISOLATION_OPTS := --inputdir=test --outputdir=. --load-extension=kernelml

include $(PGXS)

# The server's warnings and headers are for its compiler, which may not be this one.
override CPPFLAGS := $(patsubst -I/%,-isystem /%,$(CPPFLAGS))
override CFLAGS := $(filter-out -W%,$(CFLAGS)) $(WARNINGS) -Wno-unused-parameter \
	$(if $(findstring clang,$(CC)),-Wno-ignored-optimization-argument -Wno-ignored-attributes)

$(BUILD)/pg-flags: FORCE
	@$(call stamp,$(CC) $(CPPFLAGS) $(CFLAGS))

$(BUILD)/pg/%.o: src/pg/%.c $(BUILD)/pg-flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CFLAGS_SL) $(CPPFLAGS) -MMD -MP -c $< -o $@
-include $(PG_OBJECTS:.o=.d)

# The folder's own time stamp makes the script follow removed fragments.
$(BUILD)/kernelml--$(EXTVERSION).sql: $(INSTALL_SQL) sql kernelml.control
	@mkdir -p $(@D)
	cat $(INSTALL_SQL) > $@

# Only what SQL calls is visible: everything else, OpenBLAS above all, stays inside.
$(BUILD)/exports.map: $(INSTALL_SQL) scripts/exports
	@mkdir -p $(@D)
	scripts/exports $(INSTALL_SQL) > $@
$(shlib): $(BUILD)/exports.map
endif
