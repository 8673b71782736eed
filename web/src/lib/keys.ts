/** Elements that use keys themselves, so they are not for the page. */
const ELSEWHERE =
  'input:not([type=checkbox]), textarea, select, [contenteditable], [role=menu], [role=dialog], [role=listbox]'

/** Whether a key is meant for the page: no modifier, no input field focused, and no dialog open. */
export function isForPage(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false
  return !(event.target instanceof Element && event.target.closest(ELSEWHERE) !== null)
}
