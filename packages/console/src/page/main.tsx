import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { LabPage } from "./lab-page.tsx";

const root = document.getElementById("root");
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <LabPage />
    </StrictMode>,
  );
}
