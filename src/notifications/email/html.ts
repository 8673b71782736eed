import type { Tone } from '../cards/card.ts'
import type { Fact } from '../message.ts'

/** Readable on white and on the dark backgrounds of mail clients. */
export const COLOURS: Readonly<Record<Tone, string>> = {
  critical: '#dc2626',
  warning: '#d97706',
  ok: '#16a34a',
  neutral: '#64748b',
}

const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
/** Mail clients with a dark mode may use these; others show the light page, or darken it themselves. */
const DARK = `@media (prefers-color-scheme:dark){.page{background:#0f172a!important}.card{background:#1e293b!important;color:#e2e8f0!important}.muted{color:#94a3b8!important}.rule{border-color:#334155!important}}`

/**
 * Returns a page for mail clients: tables, inline styles, nothing loaded.
 *
 * @param rows table rows, as the functions below make them
 * @param preview shown by lists of e-mails and lock screens after the subject, which is the title
 */
export const page = (
  title: string,
  colour: string,
  rows: readonly string[],
  preview: string,
): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${DARK}</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f1f5f9">
<div style="display:none;mso-hide:all">${escapeHtml(preview)}</div>
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" border="0" style="background:#f1f5f9">
<tr><td align="center" style="padding:24px 8px">
<table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:620px;background:#ffffff;color:#0f172a;border-left:6px solid ${colour};${FONT};font-size:15px;line-height:22px;text-align:left">
${[block(escapeHtml(title), 'muted'), ...rows].join('\n')}
<tr><td style="padding:0 0 16px"></td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`

/** @param html already escaped */
export const block = (html: string, look: 'plain' | 'muted' = 'plain'): string =>
  look === 'muted'
    ? `<tr><td class="muted" style="padding:16px 16px 0;color:#475569;font-size:13px;line-height:20px;word-break:break-word">${html}</td></tr>`
    : `<tr><td style="padding:12px 16px 0;word-break:break-word">${html}</td></tr>`

export const paragraph = (text: string): string => block(escapeHtml(text).replaceAll('\n', '<br>'))

/** Values break anywhere where they have to, which must not squeeze the names beside them. */
export const factTable = (facts: readonly Fact[]): string =>
  block(
    `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="${FONT};font-size:15px;line-height:22px">${facts
      .map(
        ({ name, value }) =>
          `<tr><td class="muted" valign="top" style="padding:2px 16px 2px 0;color:#475569;word-break:normal">${escapeHtml(name)}</td><td valign="top" style="padding:2px 0">${escapeHtml(value)}</td></tr>`,
      )
      .join('')}</table>`,
  )

/**
 * Returns a table with a head: the first column is aligned left, figures are aligned right. A cell may have lines: on a phone, wide
 * figures leave no room for the first column.
 */
export const dataTable = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const cell = (tag: 'th' | 'td', text: string, index: number) => {
    const weight = tag === 'th' ? 'font-weight:600;' : ''
    const right =
      index === 0 ? 'width:100%;padding:6px 0' : 'padding:6px 0 6px 12px;text-align:right;white-space:nowrap'
    return `<${tag} class="rule" align="${index === 0 ? 'left' : 'right'}" valign="top" style="${weight}border-bottom:1px solid #e2e8f0;${right}">${escapeHtml(text).replaceAll('\n', '<br>')}</${tag}>`
  }
  const row = (tag: 'th' | 'td', cells: readonly string[]) =>
    `<tr>${cells.map((text, index) => cell(tag, text, index)).join('')}</tr>`
  const body = [row('th', head), ...rows.map((cells) => row('td', cells))].join('')
  return block(
    `<table width="100%" cellpadding="0" cellspacing="0" border="0" style="${FONT};font-size:14px;line-height:20px">${body}</table>`,
  )
}

export const heading = (text: string): string => block(`<strong>${escapeHtml(text)}</strong>`)

export const button = ({ label, url }: { label: string; url: string }): string =>
  block(
    `<a href="${escapeHtml(url)}" style="display:inline-block;padding:9px 16px;background:#1d4ed8;color:#ffffff;border-radius:6px;text-decoration:none">${escapeHtml(label)}</a>`,
  )

export const escapeHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
