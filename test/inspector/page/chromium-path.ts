/**
 * Path of a Chromium of this machine, and the arguments that start it without a screen.
 */

import { existsSync } from 'node:fs';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export const CHROMIUM_ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];

export const chromiumPath = (): string | undefined => PATHS.find((path) => existsSync(path));
