import { useMantineColorScheme } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { flushSync } from 'react-dom'
import { external } from './external.ts'

const printing = external(false)
/** Whether the page is currently drawn for printing. */
export const usePrinting = printing.use

/**
 * Before printing, draws the page and its charts in light colours and as wide as a sheet.
 */
export function usePrint(): void {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const onScreen = useRef<typeof colorScheme | null>(null)
  useEffect(() => {
    const before = () => {
      onScreen.current = colorScheme
      document.documentElement.dataset.printing = ''
      flushSync(() => {
        printing.set(true)
        setColorScheme('light')
      })
    }
    const after = () => {
      delete document.documentElement.dataset.printing
      printing.set(false)
      if (onScreen.current !== null) setColorScheme(onScreen.current)
      onScreen.current = null
    }
    window.addEventListener('beforeprint', before)
    window.addEventListener('afterprint', after)
    return () => {
      window.removeEventListener('beforeprint', before)
      window.removeEventListener('afterprint', after)
    }
  }, [colorScheme, setColorScheme])
}
