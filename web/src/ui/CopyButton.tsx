import { ActionIcon, Tooltip } from '@mantine/core'
import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'

/** How long the button shows that it has copied, ms. */
const SAID_MS = 1_500

interface Props {
  text: string
  /** What is copied, in a few words: "ingest key". */
  what: string
  onCopied?: () => void
}

export function CopyButton({ text, what, onCopied }: Props) {
  const [outcome, setOutcome] = useState<'copied' | 'failed' | null>(null)
  useEffect(() => {
    if (outcome === null) return undefined
    const timer = setTimeout(() => setOutcome(null), SAID_MS)
    return () => clearTimeout(timer)
  }, [outcome])
  const copy = async () => {
    const isCopied = await copyText(text)
    setOutcome(isCopied ? 'copied' : 'failed')
    if (isCopied) onCopied?.()
  }
  const words = { copied: 'Copied', failed: 'The browser does not allow it: select and copy by hand' }
  const label = outcome === null ? `Copy ${what}` : words[outcome]
  return (
    <Tooltip label={label} {...(outcome === null ? {} : { opened: true })}>
      <ActionIcon variant="subtle" color="gray" size={32} aria-label={`Copy ${what}`} onClick={() => void copy()}>
        {outcome === 'copied' ? <Check size={16} aria-hidden /> : <Copy size={16} aria-hidden />}
        <span className="sr-only" role="status">
          {outcome === null ? '' : label}
        </span>
      </ActionIcon>
    </Tooltip>
  )
}

/** Copies a text. Browsers offer the clipboard only on https and localhost; elsewhere `execCommand` still works. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

function copyBySelection(text: string): boolean {
  const field = document.createElement('textarea')
  field.value = text
  field.readOnly = true
  field.className = 'sr-only'
  document.body.append(field)
  field.select()
  try {
    return document.execCommand('copy')
  } finally {
    field.remove()
  }
}
