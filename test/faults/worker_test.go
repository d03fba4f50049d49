// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import "testing"

func startWorker(t *testing.T, o options) node { panic("x") }
