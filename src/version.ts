import packageJson from '../package.json' with { type: 'json' }

/** The program's version, as published. */
export const VERSION: string = packageJson.version
