import type { Status } from '../../api/overview.ts'

/** Has the icon of the browser's tab show a status. */
export function showInTab(status: Status): void {
  document.querySelector('link[rel="icon"]')?.setAttribute('href', `/static/favicon-${status}.svg`)
}
