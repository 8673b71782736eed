/** Keys are for what is typed or chosen there, not for the page. */
const ELSEWHERE =
  'input:not([type=checkbox]), textarea, select, [contenteditable], [role=menu], [role=dialog], [role=listbox]'

/** A key that is meant for the page: without Ctrl and the like, while nothing is typed and no dialog is open. */
export function isForPage(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false
  return !(event.target instanceof Element && event.target.closest(ELSEWHERE) !== null)
}
