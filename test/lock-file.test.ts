/**
 * Keeps the lock file such that what is installed is what was locked: every package has the digest of its
 * archive, except those listed here, each with the reason.
 */

import { expect, test } from 'vitest';
import { readProjectFile } from './project-files.ts';

interface Entry {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
}

/**
 * npm notes no digest of an optional package that it did not download, and it downloads none for another
 * platform. Installed there they come by name and version alone, so for those who develop there or, where
 * it says so, run there the registry is trusted.
 */
const WITHOUT_DIGEST: ReadonlyArray<
  readonly [prefix: string, platforms: readonly string[], reason: string]
> = [
  [
    '@biomejs/cli-',
    [
      'android-arm64',
      'android-x64',
      'darwin-arm64',
      'darwin-x64',
      'linux-arm64-musl',
      'linux-x64-musl',
      'win32-arm64',
      'win32-x64',
    ],
    'formats and lints; for developers only',
  ],
  [
    '@msgpackr-extract/msgpackr-extract-',
    ['darwin-arm64', 'darwin-x64', 'linux-arm', 'linux-arm64', 'win32-x64'],
    'makes an encoding of lmdb faster that the store does not use; lmdb runs without it',
  ],
  [
    '@oxc-parser/binding-',
    [
      'android-arm-eabi',
      'android-arm64',
      'darwin-arm64',
      'darwin-x64',
      'freebsd-x64',
      'linux-arm-gnueabihf',
      'linux-arm-musleabihf',
      'linux-ppc64-gnu',
      'linux-riscv64-gnu',
      'linux-riscv64-musl',
      'linux-s390x-gnu',
      'openharmony-arm64',
      'win32-arm64-msvc',
      'win32-ia32-msvc',
      'win32-x64-msvc',
    ],
    'parses for knip; for developers only',
  ],
];

const { packages } = JSON.parse(readProjectFile('package-lock.json')) as {
  readonly packages: Readonly<Record<string, Entry>>;
};
const installed = Object.entries(packages).filter(([path]) => path !== '');

test('every package in the lock file has a digest, or a reason why not', () => {
  const excused = WITHOUT_DIGEST.flatMap(([prefix, platforms]) =>
    platforms.map((platform) => `node_modules/${prefix}${platform}`),
  );
  const without = installed.filter(([, { integrity }]) => integrity === undefined);
  expect(without.map(([path]) => path).sort()).toEqual(excused.sort());
  for (const [, , reason] of WITHOUT_DIGEST) expect(reason.length).toBeGreaterThan(20);
});

test('what has none is optional, and for other platforms only', () => {
  for (const [path, { integrity, optional, os = [], cpu = [], version }] of installed) {
    if (integrity !== undefined) continue;
    expect(optional, path).toBe(true);
    expect(version, path).toMatch(/^\d+\.\d+\.\d+$/);
    // The musl variants differ by nothing but their C library.
    const isOurs = os.includes('linux') && cpu.includes('x64') && !path.endsWith('-musl');
    expect(isOurs, path).toBe(false);
  }
});

test('digests are of SHA-512, and no archive comes from anywhere but a registry', () => {
  for (const [path, { integrity, resolved }] of installed) {
    // It says where from only when that is no registry.
    expect(resolved ?? 'https://registry.npmjs.org/', path).toMatch(
      /^https:\/\/registry\.npmjs\.org\//,
    );
    if (integrity === undefined) continue;
    expect(integrity, path).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
  }
});
