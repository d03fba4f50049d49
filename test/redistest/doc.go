// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redistest runs real redis-server processes for tests: alone, with TLS,
// with ACL users, under Sentinel and as a Cluster. Each listens on a loopback
// port of its own, keeps its files in the test's folder, holds nothing on disk,
// and dies with the test. The program is found as $REDIS_SERVER or on PATH and
// must be version 7 or newer; without it a test fails, it is never skipped.
package redistest
