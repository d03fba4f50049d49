// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// lookUpTimeout bounds how long the start waits for the names of addresses.
const lookUpTimeout = 2 * time.Second

var portOnly = regexp.MustCompile(`^[0-9]{1,5}$`)

// checkListen wants an address with a port, as a flag has it.
func checkListen(flag, address string) error {
	_, port, err := net.SplitHostPort(address)
	switch {
	case portOnly.MatchString(address):
		return fmt.Errorf("--%s %q is no address: write 127.0.0.1:%s, or :%s for all addresses of this machine", flag, address, address, address)
	case err != nil && isAddress(address):
		return fmt.Errorf("--%s %q has no port: write one such as %s", flag, address, net.JoinHostPort(address, "8080"))
	case err != nil || strings.Contains(address, "/"):
		return fmt.Errorf("--%s %q is no address with a port: write one such as 127.0.0.1:8080 or [::1]:8080", flag, address)
	}
	if _, err := net.LookupPort("tcp", port); err != nil || port == "" {
		return fmt.Errorf("--%s %q has port %q: write a number from 0 to 65535, of which 0 is any that is free", flag, address, port)
	}
	return nil
}

// isAddress reports whether a text is an address or a name, with nothing beside it.
func isAddress(text string) bool {
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	return hostOnly.MatchString(text)
}

var hostOnly = regexp.MustCompile(`^[A-Za-z0-9]([-.A-Za-z0-9]*[A-Za-z0-9])?$`)

// refuseItself wants the app not to be at the address on which requests are taken, by
// whatever name: they would go round in circles. Names that are unknown now are no
// error, since the app may come later.
func refuseItself(ctx context.Context, upstream, listen string) error {
	target, err := url.Parse(upstream)
	if err != nil {
		return fmt.Errorf("--upstream: %w", err)
	}
	port, err := portOf(upstream)
	if err != nil {
		return err
	}
	host, listenPort, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	number, err := net.LookupPort("tcp", listenPort)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	if number != int(port) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookUpTimeout)
	defer cancel()
	at := reaches(addressesOf(ctx, target.Hostname()), addressesOf(ctx, host), ownAddresses())
	if !at.IsValid() {
		return nil
	}
	return fmt.Errorf("%w: --upstream %s is --listen %s itself (at %s), so requests would go round in circles: name the app, or listen elsewhere",
		errUsage, upstream, listen, netip.AddrPortFrom(at, uint16(port)))
}

// reaches returns the address of a target at which a listener takes connections, if it
// does at any. An unspecified address of either family listens on all of this machine,
// and dialled it is the loopback one of its own family.
func reaches(targets, listeners, own []netip.Addr) netip.Addr {
	for _, target := range targets {
		isHere := target.IsUnspecified() || target.IsLoopback() || slices.Contains(own, target)
		for _, listener := range listeners {
			switch {
			case target == listener,
				isHere && listener.IsUnspecified(),
				target.IsUnspecified() && listener.IsLoopback() && target.Is4() == listener.Is4():
				return target
			}
		}
	}
	return netip.Addr{}
}

// addressesOf are what a host stands for; an empty one is all addresses.
func addressesOf(ctx context.Context, host string) []netip.Addr {
	if host == "" {
		return []netip.Addr{netip.IPv4Unspecified(), netip.IPv6Unspecified()}
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil
	}
	for i := range found {
		found[i] = found[i].Unmap().WithZone("")
	}
	return found
}

// ownAddresses are those of this machine.
func ownAddresses() []netip.Addr {
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var own []netip.Addr
	for _, address := range interfaces {
		if prefix, err := netip.ParsePrefix(address.String()); err == nil {
			own = append(own, prefix.Addr().Unmap())
		}
	}
	return own
}
