import type { Plugin } from 'vite'

/**
 * Of the variables that Mantine declares, those of colors and headings that no page uses, and those that our theme gives other values as the
 * program starts. The shades of red, blue and teal stay: its components use them.
 */
const UNUSED = new RegExp(
  `--mantine-(?:${[
    'color-(?:pink|grape|violet|indigo|cyan|green|lime|yellow|orange)-[\\w-]+',
    'color-(?:dark|red|blue|teal)-(?:text|light|outline|filled-hover)[\\w-]*',
    'color-(?:gray|dark)-\\d',
    'primary-color-(?!contrast)[\\w-]+',
    '(?:spacing|font-size|radius|shadow)-(?:xs|sm|md|lg|xl)',
    'h\\d-[\\w-]+',
  ].join('|')}):[^;}]*;?`,
  'g',
)

/** Leaves them out of the styles: an eighth of what the first page loads of style. */
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
