import type { Plugin } from 'vite'

/** Of the colors that Mantine declares, those that no page uses. Red, blue and teal stay: its components and its own variables use them. */
const UNUSED = /--mantine-color-(?:pink|grape|violet|indigo|cyan|green|lime|yellow|orange)-[\w-]+:[^;}]*;?/g

/** Leaves them out of the styles: a tenth of what the first page loads of style, and its theme has colors of its own. */
export function dropUnusedColors(): Plugin {
  return {
    name: 'tagwarden:unused-colors',
    apply: 'build',
    generateBundle(_options, bundle) {
      for (const output of Object.values(bundle)) {
        if (output.type !== 'asset' || !output.fileName.endsWith('.css')) continue
        output.source = output.source.toString().replaceAll(UNUSED, '')
      }
    },
  }
}
