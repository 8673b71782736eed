import { CloseButton, TextInput } from '@mantine/core'
import { Search } from 'lucide-react'
import { useRef, useState } from 'react'

interface Props {
  label: string
  placeholder: string
  className?: string | undefined
  /** As the page's address has it. */
  text: string
  onChange: (text: string) => void
}

/**
 * A field for a search that the page's address keeps. It shows at once what is typed: one that waits for the address, which changes a
 * moment later, moves the cursor to its end.
 */
export function SearchField({ label, placeholder, className, text, onChange }: Props) {
  const field = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState<string | null>(null)
  if (typed === text) setTyped(null)
  const shown = typed ?? text
  const set = (next: string) => {
    setTyped(next)
    onChange(next)
  }
  const clear = () => {
    set('')
    // The button disappears, and the focus with it.
    field.current?.focus()
  }
  return (
    <TextInput
      ref={field}
      className={className}
      aria-label={label}
      placeholder={placeholder}
      leftSection={<Search size={16} aria-hidden />}
      rightSection={shown !== '' && <CloseButton size="sm" aria-label="Clear" onClick={clear} />}
      value={shown}
      onChange={(event) => set(event.currentTarget.value)}
    />
  )
}
