// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package settings reads what a program is told: flags, in groups so that their help
// can be read, and a file that says the same. A value that is unknown, out of range or
// given twice is an error that names it, says what is wrong, and what to write instead.
// It prints nothing but help, and knows no single setting.
package settings
